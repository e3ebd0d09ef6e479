"""What is kept by its arguments is worked out once, and never taken for something else."""

from __future__ import annotations

from dpengine.core.remembered import remembered


def test_equal_arguments_are_worked_out_once_and_what_cannot_be_a_key_each_time() -> None:
    worked: list[object] = []

    @remembered(8)
    def told(given: object) -> str:
        worked.append(given)
        return f"about {given}"

    assert [told("a"), told("a"), told([1]), told([1])] == ["about a", "about a", "about [1]", "about [1]"]
    assert worked == ["a", [1], [1]]


def test_one_and_true_and_one_point_nought_are_kept_apart() -> None:
    @remembered(8)
    def kind(given: object) -> str:
        return type(given).__name__

    assert [kind(1), kind(True), kind(1.0)] == ["int", "bool", "float"]
