"""Lone surrogates: JSON may escape half a character, but no file, journal or terminal accepts one."""

from __future__ import annotations

import json
from typing import Any


def join_surrogates(value: Any) -> Any:
    """A JSON value with surrogate pairs joined into characters and lone surrogates replaced by U+FFFD."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.loads(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))
    return value
