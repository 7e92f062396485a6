"""Whether the bytes of a file are text, whatever its name."""

from __future__ import annotations

_START = 65_536
_WIDE = (b"\xff\xfe", b"\xfe\xff")
# Formats whose first bytes may look like text.
_FORMATS = {b"%PDF-": "a PDF", b"PK\x03\x04": "an archive or an office document", b"{\\rtf": "an RTF document"}


def why_not_text(data: bytes) -> str | None:
    """What a file is instead of text, as in "it is a PDF, not a text file"; None if it is text."""
    for start, name in _FORMATS.items():
        if data.startswith(start):
            return f"{name}, not a text file"
    return "not a text file" if b"\0" in data[:_START] and data[:2] not in _WIDE else None
