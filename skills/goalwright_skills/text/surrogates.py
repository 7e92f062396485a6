"""Lone surrogates and numbers without a value: JSON parsers let them pass, but no file, journal or terminal does."""

from __future__ import annotations

import json
from typing import Any


def join_surrogates(value: Any, *, keep_numbers: bool = False) -> Any:
    """A JSON value with surrogate pairs joined into characters and lone surrogates replaced by U+FFFD.

    NaN and Infinity, which Python writes but JSON lacks, become null, as in JavaScript, unless they are to be kept.
    """
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    else:
        if keep_numbers or ("NaN" not in text and "Infinity" not in text):
            return value
    return json.loads(text) if keep_numbers else json.loads(text, parse_constant=lambda _: None)
