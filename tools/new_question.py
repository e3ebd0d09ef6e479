"""`make new-question KEY=geometric_mean`: a new question that already works, to be changed step by step.

Writes dpengine/mechanisms/sums/<key>.py from tools/question.txt, with its cases, its example and its twin, and a block
of words for it in English and in Slovene. docs/adding-a-question.md goes on from there.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

AFTER_THE_MEAN = 21  # where the form lists it, until it says otherwise
TEMPLATE = Path(__file__).with_name("question.txt")
WORDS = {
    "en": {
        "card.{key}.title": "{title}",
        "card.{key}.noun": "{noun}",
        "card.{key}.plain": "TODO: one plain sentence that says what it tells.",
        "card.{key}.theorem": "Discrete Laplace mechanism on a count and a sum"
        " (Dwork, McSherry, Nissim, Smith 2006, Proposition 1)",
        "card.{key}.caveat.bounds": "TODO: say which values count differently, or delete this sentence."
        " Values outside the declared range were moved to its ends before.",
        "sentence.{key}": "The {noun} of {{column}} for {{who}}",
    },
    "sl": {
        "card.{key}.title": "TODO: {title}",
        "card.{key}.noun": "TODO: {noun}",
        "card.{key}.plain": "TODO: en preprost stavek, ki pove, kaj pove odgovor.",
        "card.{key}.theorem": "Diskretni Laplaceov mehanizem na številu in vsoti"
        " (Dwork, McSherry, Nissim, Smith 2006, trditev 1)",
        "card.{key}.caveat.bounds": "TODO: povejte, katere vrednosti štejejo drugače, ali ta stavek zbrišite."
        " Vrednosti zunaj navedenega razpona so bile prej premaknjene na njegov rob.",
        "sentence.{key}": "TODO: {title} stolpca {{column}} za {{who}}",
    },
}


def new_question(key: str, root: Path) -> list[Path]:
    """The files that were written; SystemExit with one sentence where it cannot be."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", key):
        raise SystemExit(f"A key is small letters and underscores, such as geometric_mean; {key!r} is none.")
    mechanisms, messages = root / "dpengine" / "mechanisms", root / "dpengine" / "messages"
    sources = [path.read_text(encoding="utf-8") for path in mechanisms.rglob("*.py")]
    if any(f'"{key}"' in source for source in sources):
        raise SystemExit(f"There is a question called {key} already; nothing was written.")
    places = {int(order) for source in sources for order in re.findall(r"\border=(\d+)", source)}
    order = next(place for place in range(AFTER_THE_MEAN, 10**6) if place not in places)
    noun = key.replace("_", " ")
    facts = {
        "key": key,
        "noun": noun,
        "title": noun.capitalize(),
        "name": noun.title().replace(" ", ""),
        "order": order,
    }
    question = mechanisms / "sums" / f"{key}.py"
    question.write_text(TEMPLATE.read_text(encoding="utf-8").format(**facts), encoding="utf-8")
    cards = [messages / language / "cards.py" for language in WORDS]
    for path, words in zip(cards, WORDS.values(), strict=True):
        lines = [f'    "{code.format(**facts)}": "{text.format(**facts)}",\n' for code, text in words.items()]
        before, brace, after = path.read_text(encoding="utf-8").rpartition("}")
        path.write_text(before + "".join(lines) + brace + after, encoding="utf-8")
    return [question, *cards]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("Say which: make new-question KEY=geometric_mean")
    root = Path(__file__).resolve().parents[1]
    for written in new_question(sys.argv[1], root):
        print(written.relative_to(root))
    print("It is asked, priced and tested as it stands. docs/adding-a-question.md says what to change.")
