"""Splits large texts off from events, to be stored once for each SHA-256.

Long lists are split off as JSON: every goal of a batch starts with the same list of all skills.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from goalwright_executor.capture.capture import ATOMS
from goalwright_executor.capture.json_text import decode, encode
from goalwright_executor.capture.shared_lists import SharedList

# The size of the smallest large text, in characters, and of the shortest long list, in items.
LARGE = 400
LONG = 10


def split(value: Any, texts: dict[str, str]) -> Any:
    """Replace large texts in a value by their hashes; the texts are added to `texts`."""
    if type(value) in ATOMS and (not isinstance(value, str) or len(value) < LARGE):
        return value
    if type(value) is SharedList and value.stored is not None:
        sha, text = value.stored
        texts[sha] = text
        return {"$json": sha}
    match value:
        case str():
            return {"$text": _store(value, texts)}
        case Mapping():
            # A field named like one of our markers gets an extra `$`, which `join` removes.
            return {(f"${key}" if _is_marker(key) else key): split(item, texts) for key, item in value.items()}
        case list() if len(value) >= LONG and len(whole := encode(value)) >= LARGE:
            sha = _store(whole, texts)
            if type(value) is SharedList:
                value.stored = (sha, whole)
            return {"$json": sha}
        case list():
            return [split(item, texts) for item in value]
        case msgspec.Struct():
            return split(msgspec.to_builtins(value, enc_hook=str), texts)
        case _:
            return value


def _store(text: str, texts: dict[str, str]) -> str:
    sha = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    texts[sha] = text
    return sha


def join(value: Any, read: Callable[[str], str]) -> Any:
    """Replace the hashes in a value by their texts."""
    match value:
        case {"$text": str(sha)}:
            return read(sha)
        case {"$json": str(sha)}:
            return decode(read(sha))
        case Mapping():
            return {(key[1:] if _is_marker(key) else key): join(item, read) for key, item in value.items()}
        case list():
            return [join(item, read) for item in value]
        case _:
            return value


def read(body: str, text_of: Callable[[str], str]) -> dict[str, Any]:
    """Decode a stored body with its large texts."""
    value = decode(body)
    return join(value, text_of) if '"$' in body else value  # type: ignore[no-any-return]


def hashes(value: Any) -> Iterator[str]:
    """The hashes of the large texts in a split value."""
    match value:
        case {"$text": str(sha)} | {"$json": str(sha)}:
            yield sha
        case Mapping():
            for item in value.values():
                yield from hashes(item)
        case list():
            for item in value:
                yield from hashes(item)


def _is_marker(key: str) -> bool:
    return key.startswith("$") and key.lstrip("$") in ("text", "json")
