"""Diffs between files in the format of `git apply`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from goalwright_skills.text.line_difference import line_difference

if TYPE_CHECKING:
    from collections.abc import Iterator

_PLAIN = re.compile(r"[^\x00-\x1f\"\\\x7f-\uffff]*")
_LINE = 52  # bytes of binary content in a line
_NO_NEWLINE = "\\ No newline at end of file\n"


def difference(path: str, before: bytes | None, after: bytes | None, mode: int | None = None) -> str:
    """Return the diff of a text or binary file; None means no file, `mode` is its permissions."""
    try:
        old, new = (None if data is None else data.decode() for data in (before, after))
    except UnicodeDecodeError:
        return binary(path, before, after, mode)
    return diff(path, old, new, mode)


def rename(path: str, to: str) -> str:
    """Return the diff of a renamed file with unchanged content."""
    names = f"rename from {quoted(path)}\nrename to {quoted(to)}\n"
    return f"diff --git {quoted(f'a/{path}')} {quoted(f'b/{to}')}\nsimilarity index 100%\n{names}"


def left_out(path: str, size: int) -> str:
    """Return a comment line, which git skips, for a change that is too large for a patch."""
    return f"# not in this patch: {quoted(path)}, {size:,} bytes\n"


def diff(path: str, before: str | None, after: str | None, mode: int | None = None) -> str:
    """Return the diff of a text file, empty if nothing changes; None means no file."""
    if before == after:
        return ""
    old, new = _lines(before or ""), _lines(after or "")
    a, b = quoted(f"a/{path}"), quoted(f"b/{path}")
    body = list(line_difference(old, new, "/dev/null" if before is None else a, "/dev/null" if after is None else b))
    return "".join([*_head(path, before, after, mode), *_ended(body)])


def binary(path: str, before: bytes | None, after: bytes | None, mode: int | None = None) -> str:
    """Return the diff of a binary file, with both contents in full."""
    if before == after:
        return ""
    index = f"index {_blob(before)}..{_blob(after)}\nGIT binary patch\n"
    return "".join([*_head(path, before, after, mode), index, *_literal(after or b""), *_literal(before or b"")])


def _head(path: str, before: object, after: object, mode: int | None) -> Iterator[str]:
    yield f"diff --git {quoted(f'a/{path}')} {quoted(f'b/{path}')}\n"
    kind = "100755" if (mode or 0) & 0o100 else "100644"
    if before is None:
        yield f"new file mode {kind}\n"
    if after is None:
        yield f"deleted file mode {kind}\n"


def _blob(data: bytes | None) -> str:
    """Return git's hash of a content; zeros for no file."""
    import hashlib

    if data is None:
        return "0" * 40
    return hashlib.sha1(b"blob %d\0%b" % (len(data), data), usedforsecurity=False).hexdigest()


def _literal(data: bytes) -> Iterator[str]:
    import base64
    import zlib

    yield f"literal {len(data)}\n"
    packed = zlib.compress(data)
    for part in (packed[start : start + _LINE] for start in range(0, len(packed), _LINE)):
        length = chr(ord("A") + len(part) - 1) if len(part) <= 26 else chr(ord("a") + len(part) - 27)
        yield f"{length}{base64.b85encode(part, pad=True).decode()}\n"
    yield "\n"


def quoted(path: str) -> str:
    """Quote and escape a path like git, if necessary."""
    if _PLAIN.fullmatch(path):
        return path
    escapes = {ord("\t"): "\\t", ord("\n"): "\\n", ord("\r"): "\\r", ord('"'): '\\"', ord("\\"): "\\\\"}
    pieces = (escapes.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}") for byte in path.encode())
    return f'"{"".join(pieces)}"'


def _lines(text: str) -> list[str]:
    """Split a text into lines, keeping their ends; only a newline ends a line, as in git."""
    return [line for line in re.split(r"(?<=\n)", text) if line]


def _ended(lines: list[str]) -> Iterator[str]:
    for line in lines:
        if line.startswith(("--- ", "+++ ")) and line.endswith("\n") and " " in line[4:-1]:
            yield f"{line[:-1]}\t\n"  # marks the end of a name with spaces
        elif line.endswith("\n"):
            yield line
        else:
            yield f"{line}\n{_NO_NEWLINE}"
