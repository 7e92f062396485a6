"""Everything that is printed: results and JSON to stdout, all else to stderr."""

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

# Characters that a terminal obeys instead of showing: C0 and C1 controls except newline and tab, separators of lines,
# and those that change the writing direction.
_CONTROLS = [*(set(range(0x20)) - {0x09, 0x0A}), *range(0x7F, 0xA0), *range(0x2028, 0x202F), *range(0x2066, 0x206A)]
_SHOWN = {code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" for code in _CONTROLS}
_IN_JSON = {code: f"\\u{code:04x}" for code in _CONTROLS if code > 0x1F}  # JSON escapes the others itself

_ERRORS = "goalwright_marks"
# One column for one, so that what is aligned stays aligned.
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
    """Stdout after its reader went away."""

    def write(self, text: str) -> int:
        """Drop it."""
        return len(text)


class _OnlyDocuments:
    """Stdout while it has documents alone: what others print, such as a tool in this process, goes to stderr."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write what is no document."""
        return sys.stderr.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def only_documents() -> Iterator[None]:
    """Let nothing reach stdout but what is printed by this module."""
    own = sys.stdout
    sys.stdout = cast("TextIO", _OnlyDocuments(own))
    try:
        yield
    finally:
        sys.stdout = own


def stdout() -> TextIO:
    """Where results are written."""
    return sys.stdout.stream if isinstance(sys.stdout, _OnlyDocuments) else sys.stdout


def prepare_streams() -> None:
    """Make printing safe on closed streams, and in encodings that lack characters: marks have a form in ASCII."""
    nothing = Path(os.devnull)
    sys.stdin = sys.stdin or nothing.open(encoding="utf-8")
    sys.stdout = sys.stdout or nothing.open("w", encoding="utf-8")
    sys.stderr = sys.stderr or nothing.open("w", encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            own = terminal_encoding(os.environ) if stream.isatty() else None
            stream.reconfigure(encoding=own, errors=register_ascii_marks())


def register_ascii_marks() -> str:
    """Make known how marks are written in an encoding that lacks them; returns the name of that error handler."""
    codecs.register_error(_ERRORS, _ascii_marks)
    return _ERRORS


def terminal_encoding(env: Mapping[str, str]) -> str | None:
    """The encoding of a terminal whose locale names one other than UTF-8; None if Python's own choice counts.

    Python writes UTF-8 where the locale is `C` or is not installed, whatever the terminal can show.
    """
    if env.get("PYTHONIOENCODING") or env.get("PYTHONUTF8"):
        return None
    locale = env.get("LC_ALL") or env.get("LC_CTYPE") or env.get("LANG") or ""
    if locale in ("C", "POSIX"):
        return "ascii"
    charset = locale.partition(".")[2].partition("@")[0]
    try:
        named = codecs.lookup(charset).name if charset else "utf-8"
    except LookupError:
        return None
    return None if named == "utf-8" else named


def _ascii_marks(error: UnicodeError) -> tuple[str | bytes, int]:
    """The marks in ASCII; other characters are spelled out."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    return "".join(_MARKS.get(one) or one.encode("ascii", "backslashreplace").decode() for one in text), error.end


def prints_documents(arguments: Sequence[str]) -> bool:
    """Whether a command prints JSON and nothing else."""
    if {"-h", "--help"}.intersection(arguments):
        return False
    return wants_json(arguments) or [*arguments[:2]] == ["skills", "call"]


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether the arguments ask for JSON; found without parsing them, so that usage errors are JSON too."""
    before = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in before


def prints_lines(arguments: Sequence[str]) -> bool:
    """Whether a command prints documents as JSON lines, one of which an error is."""
    match [*arguments]:
        case ["chat", *_]:
            return True
        case ["skills", "select", *rest]:
            return any(argument.partition("=")[0] == "--from" for argument in rest)
        case _:
            return False


def print_json(document: Any, *, indent: int | None = 2) -> None:
    """Print one JSON document to stdout; a list has one row per line, because indenting a long one is slow."""
    import json  # --help does without

    ascii_only = (sys.stdout.encoding or "utf-8").lower().replace("-", "") != "utf8"
    if isinstance(document, list) and indent is not None:
        rows = ",\n".join(map(json.JSONEncoder(ensure_ascii=ascii_only).encode, document))
        text = f"[\n{rows}\n]" if document else "[]"
    else:
        text = json.dumps(document, ensure_ascii=ascii_only, indent=indent)
    _write([text.translate(_IN_JSON) if sys.stdout.isatty() else text, "\n"])


def escape_controls(text: str) -> str:
    """Spell out the control characters in a text, so that it cannot steer the terminal."""
    return text.replace("\r\n", "\n").removesuffix("\r").translate(_SHOWN)  # what is printed ends with a newline


def print_text(text: str) -> None:
    """Print text to stdout; control characters are spelled out, because a pipe often ends at a terminal too."""
    _print(escape_controls(text))


def print_result(text: str) -> None:
    """Print what a command was asked to make, such as an answer; what is piped on is not changed."""
    _print(escape_controls(text) if sys.stdout.isatty() else text)


def _print(text: str) -> None:
    _write([text if text.endswith("\n") else text + "\n"])


def _write(pieces: Iterable[str]) -> None:
    """Write to stdout; if its reader went away, work continues without it, and the exit status says how it ended."""
    try:
        stdout().writelines(pieces)
        stdout().flush()
    except BrokenPipeError:
        _discard(stdout())
        sys.stdout = _NoReader()


def has_reader() -> bool:
    """Whether what is printed to stdout is still read, as far as is known: work that costs something ends without."""
    return not isinstance(sys.stdout, _NoReader)


def show(mode: OutputMode, document: Any, text: str) -> None:
    """Print what a command found: as a document with --json, otherwise as text."""
    if mode.as_json:
        print_json(document)
    else:
        print_text(text)


def print_lines(lines: Iterable[str]) -> None:
    """Print lines to stdout like `print_text`, without building one large text from thousands of them."""
    _write(f"{escape_controls(line)}\n" for line in lines)


def say(text: str = "") -> None:
    """Print a line to stderr, like `print_text`; if nothing can be written there, work continues without it."""
    _say(escape_controls(text))


def _say(text: str) -> None:
    """Print a line to stderr as it is, with its colours."""
    try:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
    except OSError:  # a reader that went away, a log on a full disk
        _discard(sys.stderr)


def say_error(message: str, hint: str, *, code: str, status: int, as_json: bool, indent: int | None = 2) -> int:
    """Print what is wrong and what to do next, and with `as_json` also a document to stdout; returns `status`."""
    max_width = width.of(sys.stderr)
    _say(width.wrap(f"{_red('error:')} {escape_controls(message)}", max_width))
    if hint:
        say(width.wrap(f"  {hint}", max_width))
    if as_json:
        with suppress(OSError):  # stdout may be what failed
            print_json({"error": {"code": code, "message": message, "hint": hint}}, indent=indent)
    return status


def discard_stdout() -> None:
    """Drop what stdout has buffered, so that flushing it at exit does not fail."""
    _discard(stdout())


def _discard(stream: TextIO) -> None:
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def say_warning(message: str) -> None:
    """Print a warning to stderr."""
    say(f"warning: {message}")


def is_terminal() -> bool:
    """Whether stderr is a terminal that can redraw lines."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def _red(text: str) -> str:
    return f"\x1b[31m{text}\x1b[0m" if is_terminal() and not os.environ.get("NO_COLOR") else text


def program(started_as: str | None = None) -> str:
    """What to call goalwright in a command: its name where a shell finds it, else the path that it was started by.

    The README's first command starts it by its path in a virtual environment, which need not be active.
    """
    path = sys.argv[0] if started_as is None else started_as
    is_program = Path(path).name == "goalwright" and os.sep in path and os.access(path, os.X_OK)
    return path if is_program and shutil.which("goalwright") is None else "goalwright"
