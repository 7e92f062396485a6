"""JSON as journals write and hash it, with encoders built once: every event of every run passes through them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from json import encoder
from typing import Any

Encode = Callable[[Any], str]


def encoder_of(*, sort_keys: bool = False) -> Encode:
    """An encoder for plain values, without spaces; what JSON does not know is written as a string."""
    slow = json.JSONEncoder(
        ensure_ascii=False, check_circular=False, sort_keys=sort_keys, separators=(",", ":"), default=str
    )
    make = getattr(encoder, "c_make_encoder", None)
    if make is None:  # an interpreter without the C encoder
        return slow.encode
    # JSONEncoder.encode builds one of these per call, which takes longer than encoding a small value.
    pieces = make(None, str, encoder.encode_basestring, None, ":", ",", sort_keys, False, True)
    return lambda value: "".join(pieces(value, 0))


compact = encoder_of()
canonical = encoder_of(sort_keys=True)


def digest(value: Any) -> str:
    """The SHA-256 of a value's canonical JSON, in hex."""
    return digest_of(canonical(value))


def digest_of(text: str) -> str:
    """The SHA-256 of a text, in hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
