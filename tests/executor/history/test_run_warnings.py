"""The warnings of a run."""

from __future__ import annotations

from goalwright_executor.history.run_warnings import RunWarnings


def test_each_is_told_once_in_order() -> None:
    warnings = RunWarnings()
    for text in ("b", "a", "b"):
        warnings.note(text)
    assert warnings.told() == ("b", "a")
    assert "a" in warnings
    assert "c" not in warnings


def test_there_is_an_end_to_them() -> None:
    warnings = RunWarnings()
    for number in range(130):
        warnings.note(f"{number} " + "x" * 10_000)
    told = warnings.told()
    assert len(told) == 101
    assert max(map(len, told)) == 2_000
    assert told[-1] == "and 30 more warnings, which the trace has"


def test_a_copy_goes_on_apart() -> None:
    first = RunWarnings()
    first.note("a")
    second = first.copy()
    second.note("b")
    assert (first.told(), second.told()) == (("a",), ("a", "b"))
