"""Words that explain themselves: marked in a sentence, their definition shows under pointer, finger or keyboard.

The definition is the element's description, so that a screen reader says it too, and style.css shows the same text.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from html import escape

from dpengine.messages import CATALOGUES, MEANT, known, say
from dpengine.messages.language import current
from ui.words.markup import Html

WORDS = (
    "allowance epsilon delta privacy noise range declared median percentile neighbours unit ledger charge receipt seal "
    "composition filter renyi zcdp laplace gaussian exponential sensitivity practice rehearsal session"
).split()


def text(plain: str) -> Html:
    """Plain text as HTML, with the words of the glossary marked."""
    return Html(html(escape(plain)))


def html(safe: str) -> str:
    """HTML with each word of the glossary marked where it first occurs, outside of tags, links and headings."""
    if "glossary" not in MEANT[current()]:
        return safe
    pattern, names = _pattern(current())
    marked: set[str] = set()

    def mark(found: re.Match[str]) -> str:
        name = names.get(found.lastgroup or "")
        if name is None or name in marked:
            return found.group()
        marked.add(name)
        return word(name, found.group(), escaped=True)

    return pattern.sub(mark, safe)


def word(name: str, shown: str, escaped: bool = False) -> str:
    """The HTML of one marked word: `shown` in the text, with the definition of `name`."""
    shown = shown if escaped else escape(shown)
    return f'<dfn class="gloss" tabindex="0" aria-description="{escape(say(f"gloss.{name}.means"))}">{shown}</dfn>'


@cache
def _pattern(lang: str) -> tuple[re.Pattern[str], dict[str, str]]:
    """One pattern for all words, and the word of each group in the pattern. It matches tags and protected text first,
    then longer wordings before shorter ones."""
    seen = [(word, CATALOGUES[lang][f"gloss.{word}.seen"]) for word in WORDS if known(f"gloss.{word}.seen")]
    ways = sorted(((way, name) for name, several in seen for way in several.split("|")), key=lambda pair: -len(pair[0]))
    names = {f"w{place}": name for place, (_, name) in enumerate(ways)}
    parts = [f"(?P<w{place}>{_way(way)})" for place, (way, _) in enumerate(ways)]
    kept = r"<(a|h\d|dfn|code|style|button)\b.*?</\1>|<[^>]*>|&\w+;"
    return re.compile(rf"{kept}|(?<![\w^/-])(?:{'|'.join(parts)})(?![\w-])", re.IGNORECASE | re.DOTALL), names


def _way(way: str) -> str:
    return re.escape(escape(way)).replace(re.escape("*"), r"[^\W\d_]*")


def in_order() -> list[str]:
    """The keys of all words in dictionary order: č after c, not after z."""
    return sorted(WORDS, key=lambda name: unicodedata.normalize("NFKD", say(f"gloss.{name}")).casefold())


def escaped(code: str) -> str:
    return escape(say(code))


def entry(name: str) -> str:
    """HTML with a word and its definition, for a list of them."""
    return f"<div><dt>{escaped(f'gloss.{name}')}</dt><dd>{escaped(f'gloss.{name}.means')}</dd></div>"
