"""Texts of Streamlit's own widgets ("Upload", "Select all") in the reader's language.

Streamlit has no translations. Our script (`widget_words.js`), served by this server as the content policy demands,
replaces the texts by ours from the catalogues (`widgets`). Each page names its widgets' language. The script also lets
links in our tables and pictures open another page without a full reload, and loads ahead what draws fields. The style
of every page is served in the same way.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from dpengine.messages import CATALOGUES, MEANT
from dpengine.messages.language import LANGUAGES, STORED, current
from ui.shell import gate, style
from ui.shell.language import RIGHT_TO_LEFT

if TYPE_CHECKING:
    from ui.api.http import ASGIApp, Message, Receive, Scope, Send

_AREA = "widget."


def _testid(*names: str) -> str:
    return ", ".join(f'[data-testid="{name}"]' for name in names)


_ANY = "body"
_DROPZONE, _CALENDAR = _testid("stFileUploader"), _testid("stDateInputCalendar")
_LISTS = _testid("stMultiSelectDropdown", "stSelectboxDropdown", "stSelectboxVirtualDropdown")
_PICKERS = _testid("stSelectbox", "stMultiSelect")
_LABEL, _TEXT, _PLACEHOLDER = "aria-label", "text", "placeholder"

# Where each text stands. Lists and tags show values of a table, so no rule there may match a common word.
_PLACED = {
    (_TEXT, _testid("stSkipToContent")): "skip",
    (_LABEL, _testid("stTopNav", "stSidebarNav")): "pages",
    (_LABEL, _ANY): "sidebar expand collapse menu notifications selectbox_options multiselect_options choose_date",
    (_TEXT, _testid("stHeader")): "more",
    (_LABEL, _testid("stStatusWidget")): "running",
    (_TEXT, _testid("stStatusWidget")): "stop",
    (_LABEL, "button"): "close dismiss copy copied open clear clear_all remove show_password hide_password increment "
    "decrement clear_date",
    (_LABEL, _testid("stTooltipHoverTarget", "stTooltipIcon")): "help",
    (_PLACEHOLDER, _PICKERS): "choose_one choose no_options",
    (_TEXT, _LISTS): "no_results select_all select_matches most_one most",
    (_LABEL, _PICKERS): "selected",
    (_TEXT, "[data-live-announcer]"): "option options",
    (_TEXT, _testid("InputInstructions")): "enter ctrl_enter enter_form",
    (_TEXT, _ANY): "above below",
    (_TEXT, _DROPZONE): "upload per_file drop file_large",
    (_LABEL, _DROPZONE): "file_upload add_files cancel_upload",
    (_LABEL, _CALENDAR): "choose_date_in next_month previous_month",
    (_TEXT, _CALENDAR): "choose_date_in calendar_keys",
    (_LABEL, _testid("stDateInput")): "day month year",
    (_TEXT, _testid("stDateInput")): "no_year",
}
PLACES = tuple((name, part, at) for (part, at), names in _PLACED.items() for name in names.split())


FIELDS = (
    "Selectbox Slider TextInput NumberInput Checkbox Multiselect ButtonGroup Button PageLink DownloadButton".split()
)


def _script() -> bytes:
    rules = [
        {"at": at, "part": part, "words": {lang: CATALOGUES[lang][f"{_AREA}{name}"] for lang in LANGUAGES}}
        for name, part, at in PLACES
    ]
    text = (Path(__file__).parent / "widget_words.js").read_text(encoding="utf-8")
    return text.replace("[/* rules */]", json.dumps(rules)).replace("[/* fields */]", _fields()).encode("utf-8")


def _fields() -> str:
    """The addresses of Streamlit's own files that draw fields, as our script needs them; files of an unknown name are
    left out."""
    folder = Path(st.__file__).parent / "static" / "static" / "js"
    found = [sorted(folder.glob(f"{name}.*.js")) for name in FIELDS]
    return json.dumps([f"./static/js/{files[0].name}" for files in found if len(files) == 1])


SCRIPT = _script()
PATH = f"/words-{hashlib.sha256(SCRIPT).hexdigest()[:12]}.js"  # named by its content, so browsers may cache it
_TAG = f'<head><script defer src=".{PATH}"></script>'.encode("ascii")  # before Streamlit's own scripts
STYLE = style.every_page().encode("utf-8")
STYLE_PATH = f"/style-{hashlib.sha256(STYLE).hexdigest()[:12]}.css"
_LINK = f'<link rel="stylesheet" href=".{STYLE_PATH}"></body>'.encode("ascii")  # after Streamlit's own rules
_FILES = {PATH: (b"text/javascript; charset=utf-8", SCRIPT), STYLE_PATH: (b"text/css; charset=utf-8", STYLE)}
_AS_IT_IS = (b"accept-encoding", b"if-none-match", b"if-modified-since")
_LENGTH_AND_VERSION = (b"content-length", b"etag", b"last-modified")


_MAIN = '[data-testid="stMain"] [data-testid="stHtml"]'
_RIGHT_TO_LEFT = (  # text, tables and figures; pictures with an axis stay as they are
    f"{_MAIN} :is(p,table,.sum,.legend,.chips,.trusted .way,.seven>div){{direction:rtl;text-align:right}}"
    f"{_MAIN} table :is(th,td){{text-align:right;padding:0.55rem 0 0.55rem 0.6rem}}"
    '[data-testid="stWidgetLabel"]{direction:rtl;width:100%}'
    '[data-testid="stMain"] [data-testid="stButton"]{direction:rtl}'
)


def rules(lessons: bool) -> str:
    """CSS that names the language of this page's widgets: English if the page itself is in English."""
    lang = current() if lessons or MEANT[current()] == MEANT[STORED] else STORED
    wider = json.dumps(CATALOGUES[lang][f"{_AREA}wider"], ensure_ascii=False)
    mirrored = _RIGHT_TO_LEFT if lang in RIGHT_TO_LEFT else ""
    return f":root{{--words:{lang};--wider:{wider};}}{mirrored}"


class Words:
    """ASGI middleware: serves the script and the style of every page, and adds both to each page. Downloads, reports
    among them, stay as written: they must not run a script."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or gate.within(scope["path"]).startswith("media/"):
            await self.app(scope, receive, send)
            return
        if (file := _FILES.get("/" + scope["path"].rpartition("/")[2])) is not None:
            kind, kept = (b"content-type", file[0]), (b"cache-control", b"max-age=31536000")
            length = (b"content-length", str(len(file[1])).encode("ascii"))
            await gate.respond(send, 200, [kind, kept, length], file[1])
            return
        if "text/html" in gate.header(scope, b"accept"):
            asked = [(name, value) for name, value in scope["headers"] if name.lower() not in _AS_IT_IS]
            scope = {**scope, "headers": asked}  # readable here, and never a cached page with an older script
        page: Message | None = None
        body = b""

        async def send_with_words(message: Message) -> None:
            nonlocal page, body
            if message["type"] == "http.response.start" and _is_html(message):
                page = message  # wait for the body: its length will change
                return
            if page is None or message["type"] != "http.response.body":
                await send(message)
                return
            body += message.get("body", b"")
            if message.get("more_body", False):
                return
            body = body.replace(b"<head>", _TAG, 1).replace(b"</body>", _LINK, 1)
            headers = [(name, value) for name, value in page["headers"] if name.lower() not in _LENGTH_AND_VERSION]
            headers.append((b"content-length", str(len(body)).encode("ascii")))
            await send({**page, "headers": headers})
            await send({"type": "http.response.body", "body": body})

        await self.app(scope, receive, send_with_words)


def _is_html(message: Message) -> bool:
    return message["status"] == 200 and gate.header(message, b"content-type").startswith("text/html")
