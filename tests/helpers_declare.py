"""The Data page without a browser: its steps as a person takes them, and a planted cell that must never be on it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import dpengine as dp
from ui.data.declare_draft import STEPS, Draft

ROOT = Path(__file__).resolve().parent.parent
CANARY = "zebra7421"


class Page:
    """The Data page. After every run: no exception, and the planted cell is nowhere on it."""

    def __init__(self) -> None:
        from streamlit.testing.v1 import AppTest

        self.app = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=60)
        self.app.switch_page("../pages/data.py")
        self.run()

    def run(self) -> Page:
        self.app.run()
        for _ in range(100):  # work in the background
            if self.draft.task is None:
                break
            self.draft.task.wait(0.1)
            self.app.run()
        assert not self.app.exception
        assert CANARY not in self.everything
        return self

    @property
    def everything(self) -> str:
        """All that was sent to the browser."""
        return "\n".join(str(getattr(element, "proto", "")) for element in self.app.main)

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
        return [body for body in bodies if 'class="refused"' in body]

    def upload(self, data: bytes | str, name: str = "people.csv") -> Page:
        raw = data if isinstance(data, bytes) else data.encode()
        self.app.file_uploader[0].set_value((name, raw, "text/csv"))
        return self.run()

    def press(self, label: str) -> Page:
        next(button for button in self.app.button if button.label == label).click()
        return self.run()

    def set(self, key: str, value: Any) -> Page:
        """Whatever widget has this key."""
        kinds = "radio text_input text_area number_input selectbox button_group date_input checkbox select_slider"
        for kind in kinds.split():
            for widget in self.app.get(kind):
                if widget.key == key:
                    widget.set_value(value)
                    return self.run()
        raise AssertionError(f"no widget {key} on {self.draft.step}")

    def to(self, step: str) -> Page:
        """On to a step, with the usual answers."""
        while STEPS.index(self.draft.step) < STEPS.index(step):
            now = self.draft.step
            if now == "unit":
                self.set("declare-unit", "one")
            elif now == "relation":
                self.set("declare-relation", "replace")
            elif now == "columns" and not self.draft.chosen:
                self.set("declare-columns", self.draft.names)
            self.press("Yes, go on" if now == "names" else "Go on")
            assert self.draft.step != now, self.refusals
        return self

    def finish(self, name: str) -> dp.Table:
        self.to("care").set("declare-care", "usual").set("declare-name", name).press("Add the table")
        assert self.draft.step == "done", self.refusals
        return dp.open_workspace(os.environ["ALLOWANCE_HOME"]).table(name)
