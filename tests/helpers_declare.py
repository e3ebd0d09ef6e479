"""The Data page without a browser: its steps as a person takes them, and a planted cell that must never be on it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import dpengine as dp
from ui.data.draft import STEPS, Draft

ROOT = Path(__file__).resolve().parent.parent
CANARY = "zebra7421"


class Page:
    """The Data page. After every run: no exception, and the planted cell is nowhere on it."""

    def __init__(self, chosen: str | None = None, lang: str = "") -> None:
        from streamlit.testing.v1 import AppTest

        self.app = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=60)
        if chosen is not None:
            self.app.session_state["table"] = chosen
        if lang:
            self.app.query_params["lang"] = lang
        self.app.switch_page("../pages/data.py")
        self.run()

    def run(self) -> Page:
        self.app.run()
        for _ in range(100):  # work in the background
            if self.draft.task is None:
                break
            self.draft.task.wait(60)
            self.app.run()
        assert not self.app.exception
        assert CANARY not in self.everything
        return self

    @property
    def everything(self) -> str:
        """All that was sent to the browser."""
        return "\n".join(str(getattr(element, "proto", "")) for element in self.app.main)

    def protos(self) -> list[Any]:
        return [element.proto for element in self.app.main if getattr(element, "proto", None) is not None]

    @property
    def draft(self) -> Draft:
        found: Draft = self.app.session_state["draft"] if "draft" in self.app.session_state else Draft()
        return found

    @property
    def text(self) -> str:
        return "\n".join(part.proto.body for part in self.app.get("html"))

    @property
    def refusals(self) -> list[str]:
        bodies = [part.proto.body for part in self.app.get("html")]
        return [body for body in bodies if 'class="refused' in body]

    def upload(self, data: bytes | str, name: str = "people.csv") -> Page:
        raw = data if isinstance(data, bytes) else data.encode()
        self.app.file_uploader[0].set_value((name, raw, "text/csv"))
        return self.run()

    def press(self, label: str) -> Page:
        """A button by its label; the one to go on also says how many columns wait, or that all guesses are right."""
        if label == "Yes, go on" and self.draft.step == "unit":  # there was no doubt how the file is read
            return self
        if label == "Go on":
            return self.click(f"declare-next-{self.draft.step}")
        next(one for one in self.app.button if one.label == label or one.label.startswith(label)).click()
        return self.run()

    def set(self, key: str, value: Any) -> Page:
        """Whatever widget has this key; the card it stands on is opened."""
        kinds = "radio text_input text_area number_input selectbox button_group date_input checkbox select_slider"
        for _ in range(2):
            for kind in kinds.split():
                for widget in self.app.get(kind):
                    if widget.key == key:
                        widget.set_value(value)
                        return self.run()
            column = re.match(r"(.+-\d+)-", key)
            if column is None:
                break
            self.click(f"{column[1]}-open")
        raise AssertionError(f"no widget {key} on {self.draft.step}")

    def click(self, key: str) -> Page:
        """A button by its key."""
        button = next((button for button in self.app.button if button.key == key), None)
        assert button is not None, f"no button {key} on {self.draft.step}"
        button.click()
        return self.run()

    def agree(self) -> Page:
        """Say yes to every guess that has a button of its own, as the first of its readings has it; going on says yes
        to the others."""
        for name in self.draft.waiting:
            key = f"{self.draft.mark}-{self.draft.names.index(name)}-like-0"
            if any(button.key == key for button in self.app.button):
                self.click(key)
        return self

    def to(self, step: str) -> Page:
        """On to a step, with the usual answers."""
        while STEPS.index(self.draft.step) < STEPS.index(step):
            now = self.draft.step
            if now == "unit":
                self.set("declare-unit", self.draft.many or "one").set(
                    "declare-relation", self.draft.relation or "replace"
                )
                if any(one.key == "declare-whose" for one in (*self.app.radio, *self.app.selectbox)):
                    self.set("declare-whose", "")
                if any(one.key == "declare-each-own" for one in self.app.checkbox):
                    self.set("declare-each-own", True)
            elif now == "cards":
                self.agree()
            self.press("Go on")
            assert self.draft.step != now, self.refusals
        return self

    def finish(self, name: str) -> dp.Table:
        self.to("care").set("declare-care", "usual").set("declare-name", name).press("Add the table")
        assert self.draft.step == "done", self.refusals
        return dp.open_workspace(os.environ["ALLOWANCE_HOME"]).table(name)
