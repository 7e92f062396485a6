"""Prints results and JSON to stdout, and everything else to stderr."""

from __future__ import annotations

import codecs
import io
import os
import shutil
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

from goalwright.interfaces.cli.view import width

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

# Characters that a terminal interprets: C0 and C1 except newline and tab, line separators, and bidi controls.
_CONTROLS = [*(set(range(0x20)) - {0x09, 0x0A}), *range(0x7F, 0xA0), *range(0x2028, 0x202F), *range(0x2066, 0x206A)]
_ESCAPES = {code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" for code in _CONTROLS}
_JSON_ESCAPES = {code: f"\\u{code:04x}" for code in _CONTROLS if code > 0x1F}  # JSON escapes the others itself

_ERRORS = "goalwright_marks"
# Each replacement is one column wide, which keeps columns aligned.
_MARKS = {
    "·": "-", "▶": ">", "✓": "+", "✗": "x", "–": "-", "—": "-", "■": "#", "…": "~", "≈": "~", "×": "x", "←": "<",
    "→": ">", "█": "#", "○": "o", "◇": "*", "│": "|", "─": "-", "└": "`", "┘": "'", "┌": ".", "┐": ".", "├": "|",
    "┤": "|", "┴": "+", "┬": "+", "┼": "+", "•": "*", "“": '"', "”": '"', "‘": "'", "’": "'", "━": "=", "╸": "=",
    "╺": "=", "┃": "|",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class OutputMode:
    """How much a command prints, and in which form: --json, --quiet and --verbose."""

    as_json: bool = False
    quiet: bool = False
    verbose: bool = False


class _NoReader(io.StringIO):
    """Replaces stdout after the reader of the pipe has closed it."""

    def write(self, text: str) -> int:
        """Discard the text."""
        return len(text)


class _OnlyDocuments:
    """Stdout that takes only JSON documents: other output, such as that of a tool in this process, goes to stderr."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Redirect the text to stderr."""
        return sys.stderr.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def only_documents() -> Iterator[None]:
    """Redirect everything except this module's output from stdout to stderr."""
    original = sys.stdout
    sys.stdout = cast("TextIO", _OnlyDocuments(original))
    try:
        yield
    finally:
        sys.stdout = original


def stdout() -> TextIO:
    """Return the stream for results."""
    return sys.stdout.stream if isinstance(sys.stdout, _OnlyDocuments) else sys.stdout


def prepare_streams() -> None:
    """Replace closed standard streams, and write marks in ASCII if the encoding lacks them."""
    nothing = Path(os.devnull)
    sys.stdin = sys.stdin or nothing.open(encoding="utf-8")
    sys.stdout = sys.stdout or nothing.open("w", encoding="utf-8")
    sys.stderr = sys.stderr or nothing.open("w", encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            encoding = terminal_encoding(os.environ) if stream.isatty() else None
            stream.reconfigure(encoding=encoding, errors=register_ascii_marks())


def register_ascii_marks() -> str:
    """Register the error handler that writes marks in ASCII, and return its name."""
    codecs.register_error(_ERRORS, _ascii_marks)
    return _ERRORS


def terminal_encoding(env: Mapping[str, str]) -> str | None:
    """Return the encoding of a terminal whose locale names one other than UTF-8; None keeps Python's own choice.

    Python writes UTF-8 if the locale is `C` or is not installed, even if the terminal cannot display it.
    """
    if env.get("PYTHONIOENCODING") or env.get("PYTHONUTF8"):
        return None
    locale = env.get("LC_ALL") or env.get("LC_CTYPE") or env.get("LANG") or ""
    if locale in ("C", "POSIX"):
        return "ascii"
    charset = locale.partition(".")[2].partition("@")[0]
    try:
        encoding = codecs.lookup(charset).name if charset else "utf-8"
    except LookupError:
        return None
    return None if encoding == "utf-8" else encoding


def _ascii_marks(error: UnicodeError) -> tuple[str | bytes, int]:
    """Replace marks by ASCII characters, and escape all other characters."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    return "".join(_MARKS.get(char) or char.encode("ascii", "backslashreplace").decode() for char in text), error.end


def prints_documents(arguments: Sequence[str]) -> bool:
    """Return whether a command prints nothing but JSON."""
    if {"-h", "--help"}.intersection(arguments):
        return False
    return wants_json(arguments) or [*arguments[:2]] == ["skills", "call"]


def wants_json(arguments: Sequence[str]) -> bool:
    """Return whether `--json` is given; the arguments are not parsed, so that usage errors are JSON too."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in options


def prints_lines(arguments: Sequence[str]) -> bool:
    """Return whether a command prints JSON lines, so that an error is one line too."""
    match [*arguments]:
        case ["chat", *_]:
            return True
        case ["skills", "select", *rest]:
            return any(argument.partition("=")[0] == "--from" for argument in rest)
        case _:
            return False


def print_json(document: Any, *, indent: int | None = 2) -> None:
    """Print a JSON document to stdout; a list has one row per line, because indenting a long list is slow."""
    import json  # not needed for --help

    ascii_only = (sys.stdout.encoding or "utf-8").lower().replace("-", "") != "utf8"
    if isinstance(document, list) and indent is not None:
        rows = ",\n".join(map(json.JSONEncoder(ensure_ascii=ascii_only).encode, document))
        text = f"[\n{rows}\n]" if document else "[]"
    else:
        text = json.dumps(document, ensure_ascii=ascii_only, indent=indent)
    _write([text.translate(_JSON_ESCAPES) if sys.stdout.isatty() else text, "\n"])


def escape_controls(text: str) -> str:
    """Escape control characters in a text, so that it cannot control the terminal."""
    return text.replace("\r\n", "\n").removesuffix("\r").translate(_ESCAPES)  # a newline is printed after it


def print_text(text: str) -> None:
    """Print a text to stdout; control characters are escaped in a pipe too, because it often ends at a terminal."""
    _print(escape_controls(text))


def print_result(text: str) -> None:
    """Print the result of a command, such as an answer; it is not changed in a pipe."""
    _print(escape_controls(text) if sys.stdout.isatty() else text)


def _print(text: str) -> None:
    _write([text if text.endswith("\n") else text + "\n"])


def _write(pieces: Iterable[str]) -> None:
    """Write to stdout; if the pipe is closed, the command continues without output."""
    try:
        stdout().writelines(pieces)
        stdout().flush()
    except BrokenPipeError:
        _discard(stdout())
        sys.stdout = _NoReader()


def has_reader() -> bool:
    """Return whether stdout still has a reader, as far as known; without one, paid work is stopped."""
    return not isinstance(sys.stdout, _NoReader)


def show(mode: OutputMode, document: Any, text: str) -> None:
    """Print the result of a command: as a document with --json, otherwise as text."""
    if mode.as_json:
        print_json(document)
    else:
        print_text(text)


def print_lines(lines: Iterable[str]) -> None:
    """Print lines to stdout like `print_text`, without joining thousands of them into one text."""
    _write(f"{escape_controls(line)}\n" for line in lines)


def say(text: str = "") -> None:
    """Print a line to stderr like `print_text`; write errors are ignored."""
    _say(escape_controls(text))


def _say(text: str) -> None:
    """Print a line to stderr without escaping, because it has colours."""
    try:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
    except OSError:  # a closed pipe, or a log on a full disk
        _discard(sys.stderr)


def say_error(message: str, hint: str, *, code: str, status: int, as_json: bool, indent: int | None = 2) -> int:
    """Print an error with its hint, and with `as_json` also as a document to stdout; returns `status`."""
    max_width = width.of(sys.stderr)
    _say(width.wrap(f"{_red('error:')} {escape_controls(message)}", max_width))
    if hint:
        say(width.wrap(f"  {hint}", max_width))
    if as_json:
        with suppress(OSError):  # stdout itself may have failed
            print_json({"error": {"code": code, "message": message, "hint": hint}}, indent=indent)
    return status


def discard_stdout() -> None:
    """Discard the buffer of stdout, so that flushing it at exit does not fail."""
    _discard(stdout())


def _discard(stream: TextIO) -> None:
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def say_warning(message: str) -> None:
    """Print a warning to stderr."""
    say(f"warning: {message}")


def is_terminal() -> bool:
    """Return whether stderr is a terminal that can redraw lines."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def _red(text: str) -> str:
    return f"\x1b[31m{text}\x1b[0m" if is_terminal() and not os.environ.get("NO_COLOR") else text


def program(started_as: str | None = None) -> str:
    """Return how to call goalwright in a command: by name if a shell finds it, else by the path it was started with.

    The README's first command starts it by its path in a virtual environment that need not be active.
    """
    path = sys.argv[0] if started_as is None else started_as
    is_program = Path(path).name == "goalwright" and os.sep in path and os.access(path, os.X_OK)
    return path if is_program and shutil.which("goalwright") is None else "goalwright"
