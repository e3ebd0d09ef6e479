"""What Streamlit does with less work, it does with the same result; and its private parts still have their names."""

from __future__ import annotations

from typing import Any

from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session
from streamlit.runtime.state import SafeSessionState, SessionState

from ui.shell import speed


def test_a_state_that_is_asked_is_the_whole_state() -> None:
    state = SafeSessionState(SessionState(), lambda: None)
    state["one"], state["none"] = 1, None
    whole = {"one": 1, "none": None}
    asked = speed.StateAsAsked(state, lambda now: dict(whole))
    assert "one" in asked and asked["one"] == 1 and "none" in asked and asked["none"] is None
    assert "two" not in asked and asked.get("two") is None
    assert dict(asked) == whole and dict(asked.items()) == whole and len(asked) == 2
    assert isinstance(SafeSessionState.filtered_state, property)


def test_the_look_is_written_once_and_copied() -> None:
    write, times = app_session._populate_theme_msg, list[str]()

    def counted(message: Any, section: str = "theme") -> None:
        times.append(section)
        write(message, section)

    copied = speed.once_each(counted)
    sections = ("theme", "theme.light", "theme.dark", "theme.sidebar")
    for _ in range(3):
        for section in sections:
            plain, copy = CustomThemeConfig(), CustomThemeConfig()
            write(plain, section)
            copied(copy, section)
            assert plain == copy
    assert times == list(sections)
    whole, again = CustomThemeConfig(), CustomThemeConfig()
    write(whole.sidebar, "theme.sidebar")
    copied(again.sidebar, "theme.sidebar")
    assert whole.HasField("sidebar") == again.HasField("sidebar")
