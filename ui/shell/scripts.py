"""The scripts a page may run, word for word, and the hashes by which a browser recognises them."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256

BRING = """(() => {
    const arrived = document.querySelector(".arrived");
    if (!arrived) return;
    arrived.scrollIntoView({block: "start"});
    arrived.focus({preventScroll: true});
})()"""

TOP = """(() => {
    document.querySelector('[data-testid="stMain"]')?.scrollTo(0, 0);
    document.querySelector("h1.ask-heading")?.focus({preventScroll: true});
})()"""

PRINT = """(() => {
    window.print();
})()"""


def hash_of(script: str) -> str:
    return f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"


OURS = (BRING, TOP, PRINT)
ADMITTED = " ".join(map(hash_of, OURS))
