"""The content of a file as it is recorded: as text, or else as base64."""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goalwright_planner.events import FileKept

# Without a slash, nothing in it looks like a path, which would be recorded by the name of its folder.
_ALPHABET = b"+,"


def encoded(data: bytes) -> str:
    """The bytes as `FileKept.data`."""
    return base64.b64encode(data, _ALPHABET).decode()


def decoded(kept: FileKept) -> bytes | None:
    """The content that was kept; None if it is damaged. A text may differ where a secret or a path stood in it."""
    if not kept.data:
        return kept.text.encode("utf-8", "surrogatepass")
    try:
        data = base64.b64decode(kept.data, _ALPHABET, validate=True)
    except (ValueError, binascii.Error):
        return None
    return data if hashlib.sha256(data).hexdigest() == kept.sha256 else None
