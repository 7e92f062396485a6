"""JSON as journals write, read and hash it, with msgspec.

Values that msgspec refuses are repaired: lone surrogates become U+FFFD, and lists nested thousands deep are cut. NaN
and Infinity become null, as in a tool's result; integers may have any number of digits.
"""

from __future__ import annotations

from hashlib import blake2b, sha256
from typing import TYPE_CHECKING, Any

import msgspec

from goalwright_skills.text.untrusted import flattened, join_surrogates

if TYPE_CHECKING:
    from collections.abc import Sequence

_PLAIN = msgspec.json.Encoder(enc_hook=str)
_SORTED = msgspec.json.Encoder(enc_hook=str, order="sorted")
_REFUSED = (UnicodeEncodeError, RecursionError)

decode = msgspec.json.Decoder().decode


def encode(value: Any) -> str:
    """Encode a value as JSON, without spaces."""
    try:
        return _PLAIN.encode(value).decode()
    except _REFUSED:
        return _PLAIN.encode(_repaired(value)).decode()


def encode_all(values: Sequence[Any]) -> list[str] | None:
    """Encode each value as JSON in one call; returns None if a value has to be repaired."""
    try:
        return _PLAIN.encode_lines(values).decode().split("\n")[:-1]  # the last line has a line end, too
    except _REFUSED:
        return None


def canonical(value: Any) -> bytes:
    """Return a value's canonical JSON, with sorted keys, for hashing."""
    try:
        return _SORTED.encode(value)
    except _REFUSED:
        return _SORTED.encode(_repaired(value))


def digest(value: Any) -> str:
    """Return the SHA-256 of a value's canonical JSON, in hex."""
    try:
        return sha256(_SORTED.encode(value)).hexdigest()
    except _REFUSED:
        return sha256(canonical(value)).hexdigest()


def short_digest(value: Any) -> str:
    """Return 128 bits of the BLAKE2b of a value's canonical JSON, in hex; faster than SHA-256 for short values."""
    try:
        return blake2b(_SORTED.encode(value), digest_size=16).hexdigest()
    except _REFUSED:
        return blake2b(canonical(value), digest_size=16).hexdigest()


def digest_of(text: bytes) -> str:
    """Return the SHA-256 of bytes, in hex."""
    return sha256(text).hexdigest()


def _repaired(value: Any) -> Any:
    """Return the value without lone surrogates and deep nesting."""
    return join_surrogates(flattened(value))
