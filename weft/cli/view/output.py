"""Everything that is printed: answers and JSON on stdout, all else on stderr."""

from __future__ import annotations

import io
import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# What a terminal obeys instead of showing it: C0 and C1 controls but newline and tab, and what turns the direction of
# writing round.
_CONTROLS = [*(set(range(0x20)) - {0x09, 0x0A}), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_SHOWN = {code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" for code in _CONTROLS}
_IN_JSON = {code: f"\\u{code:04x}" for code in _CONTROLS if code > 0x1F}  # the others JSON escapes by itself


def ready_streams() -> None:
    """See to it that anything can be printed: to a stream that is closed, and in an encoding that lacks characters."""
    nothing = Path(os.devnull)
    sys.stdin = sys.stdin or nothing.open(encoding="utf-8")
    sys.stdout = sys.stdout or nothing.open("w", encoding="utf-8")
    sys.stderr = sys.stderr or nothing.open("w", encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def asks_for_json(arguments: Sequence[str]) -> bool:
    """Whether the arguments ask for JSON, known before they are parsed, so that a usage error is JSON too."""
    before = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in before


def print_json(document: Any, *, indent: int | None = 2) -> None:
    """One JSON document on stdout; a list has a row a line, for it may be long and indenting is slow."""
    plain = (sys.stdout.encoding or "utf-8").lower().replace("-", "") != "utf8"
    if isinstance(document, list) and indent is not None:
        rows = ",\n".join(map(json.JSONEncoder(ensure_ascii=plain).encode, document))
        text = f"[\n{rows}\n]" if document else "[]"
    else:
        text = json.dumps(document, ensure_ascii=plain, indent=indent)
    sys.stdout.write((text.translate(_IN_JSON) if sys.stdout.isatty() else text) + "\n")
    sys.stdout.flush()


def shown(text: str) -> str:
    """Text as a terminal may have it: whatever would steer the terminal is spelled out instead."""
    return text.replace("\r\n", "\n").translate(_SHOWN)


def print_text(text: str) -> None:
    """Text on stdout; what is read by a program gets it as it is."""
    said = shown(text) if sys.stdout.isatty() else text
    sys.stdout.write(said if said.endswith("\n") else said + "\n")
    sys.stdout.flush()


def print_lines(lines: Iterable[str]) -> None:
    """Lines on stdout as text is printed there, each by itself: one text of thousands would be copied over and over."""
    show = shown if sys.stdout.isatty() else str
    sys.stdout.writelines(f"{show(line)}\n" for line in lines)
    sys.stdout.flush()


def say(text: str = "") -> None:
    """A line on stderr; where nobody reads it any more, the work goes on without."""
    _say(shown(text) if sys.stderr.isatty() else text)


def _say(text: str) -> None:
    """A line on stderr with the colours it has."""
    with suppress(BrokenPipeError):
        sys.stderr.write(text + "\n")
        sys.stderr.flush()


def say_error(message: str, hint: str, *, code: str, status: int, as_json: bool) -> int:
    """What is wrong and what to do next; as JSON on stdout too where that was asked for."""
    _say(f"{_red('error:')} {shown(message) if sys.stderr.isatty() else message}")
    if hint:
        say(f"  {hint}")
    if as_json:
        with suppress(OSError):  # where it is stdout that failed, the line above must do
            print_json({"error": {"code": code, "message": message, "hint": hint}})
    return status


def forget_stdout() -> None:
    """Drop what stdout still holds, so that the end of the program does not fail at writing it once more."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say_warning(message: str) -> None:
    """Something to know that stops nothing."""
    say(f"warning: {message}")


def is_terminal() -> bool:
    """Whether a person watches."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def _red(text: str) -> str:
    return f"\x1b[31m{text}\x1b[0m" if is_terminal() and not os.environ.get("NO_COLOR") else text
