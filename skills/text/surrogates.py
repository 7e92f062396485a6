"""Half a character: JSON may escape one, but no file, journal or terminal takes it."""

from __future__ import annotations

import json
from typing import Any


def mended(value: Any) -> Any:
    """A JSON value in which halves that belong together are joined, and lone ones replaced."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.loads(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))
    return value
