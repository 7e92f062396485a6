"""Text is cut and wrapped to fit a terminal, and unchanged in a pipe."""

from __future__ import annotations

import fcntl
import io
import os
import struct
import termios
from typing import TYPE_CHECKING

import pytest

from goalwright.interfaces.cli.commands.traces.list import run_lines
from goalwright.interfaces.cli.view import width
from goalwright_executor.stores.row import RunSummary

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

RUN = "20261115T101542509-f96f4c"
GOAL = "Write the API documentation of the to-do service, with every endpoint and what it answers, for people"


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[TextIO]:
    """A terminal of 50 columns."""
    monkeypatch.delenv("COLUMNS", raising=False)
    outer, inner = os.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 50, 0, 0))
    with os.fdopen(inner, "w", encoding="utf-8") as stream:
        yield stream
    os.close(outer)


def test_only_a_terminal_has_a_width(terminal: TextIO, monkeypatch: pytest.MonkeyPatch) -> None:
    assert width.of(terminal) == 50
    monkeypatch.setenv("COLUMNS", "72")
    assert width.of(terminal) == 72
    assert width.of(io.StringIO()) is None


def test_lines_break_between_words_only() -> None:
    line = f"done · 3/3 tasks · 6 calls · $0.0600 · run {RUN}"
    assert width.wrap(line, 40) == f"done · 3/3 tasks · 6 calls · $0.0600 ·\n  run {RUN}"
    assert RUN in width.wrap(line, 20)
    assert width.wrap(line, None) == line


def test_joined_parts_are_not_broken() -> None:
    parts = ["done", "3/3 tasks", "$0.0600", f"run {RUN}"]
    assert width.join(parts, 40) == f"done · 3/3 tasks · $0.0600\n    · run {RUN}"
    assert width.join(parts, None) == f"done · 3/3 tasks · $0.0600 · run {RUN}"


def test_wrapped_progress_line_is_indented() -> None:
    assert width.wrap("   13.5 s  a: failed: no luck", 22, 11) == "   13.5 s  a: failed:\n           no luck"


def test_cut_text_ends_with_an_ellipsis_and_wide_characters_count_twice() -> None:
    assert width.cut("abcdef", 6) == "abcdef"
    assert width.cut("abcdefg", 6) == "abcde…"
    assert width.columns(width.cut("文書を書いて", 6)) <= 6
    assert width.columns(width.pad("文書を書いて", 8)) == 8
    assert width.cut("abcdefg", None) == "abcdefg"


def list_lines(max_width: int | None) -> list[str]:
    runs = [
        RunSummary(RUN, GOAL, "interrupted", "2026-11-15T10:15:42Z", 1234.5, 12, None),
        RunSummary(RUN, "文書" * 60, "done", "2026-11-15T10:15:42Z", None, 1, 0.1234),
    ]
    return list(run_lines(runs, max_width))


@pytest.mark.parametrize("max_width", [120, 80, 50, 40])
def test_run_list_fits_the_terminal(max_width: int) -> None:
    lines = list_lines(max_width)
    assert [line for line in lines if width.columns(line) > max_width] == []
    assert all(text in "\n".join(lines) for text in (RUN, "interrupted", "12 tasks", "1234.5 s", "Write the API"))


def test_run_list_is_not_cut_in_a_pipe() -> None:
    lines = list_lines(None)
    assert len(lines) == 2
    assert lines[0].endswith(GOAL)
    assert lines[1].endswith("文書" * 60)


@pytest.mark.parametrize(
    ("text", "max_width", "fits"),
    [
        ("short", 5, "short"),
        ("a longer one", 9, "a longer…"),
        ("日本語の説明", 12, "日本語の説明"),
        ("日本語の説明", 11, "日本語の説…"),
        ("e\u0301te\u0301", 3, "e\u0301te\u0301"),
        ("none", 1, "…"),
        ("none", -9, ""),
    ],
)
def test_line_is_cut_by_columns_not_characters(text: str, max_width: int, fits: str) -> None:
    assert width.cut(text, max_width) == fits
