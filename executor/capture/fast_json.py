"""JSON as a journal writes it: by encoders that are made once, for every event of every run comes through them."""

from __future__ import annotations

import json
from collections.abc import Callable
from json import encoder
from typing import Any

Encode = Callable[[Any], str]


def encoder_of(*, sort_keys: bool = False) -> Encode:
    """An encoder of plain values, without blanks; what JSON does not know is written as its text."""
    slow = json.JSONEncoder(
        ensure_ascii=False, check_circular=False, sort_keys=sort_keys, separators=(",", ":"), default=str
    )
    make = getattr(encoder, "c_make_encoder", None)
    if make is None:  # an interpreter without it
        return slow.encode
    # JSONEncoder.encode makes one of these for each value, which takes longer than a small value itself.
    pieces = make(None, str, encoder.encode_basestring, None, ":", ",", sort_keys, False, True)
    return lambda value: "".join(pieces(value, 0))


compact = encoder_of()
canonical = encoder_of(sort_keys=True)
