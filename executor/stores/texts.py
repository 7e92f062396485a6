"""Large texts stand outside their event, stored once by their SHA-256, however often they are said.

So do long lists, as JSON: every goal of a batch begins with the same list of all skills.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from executor.capture.fast_json import compact
from planner.events import ATOMS

LARGE = 400
LONG = 10


def split(value: Any, texts: dict[str, str]) -> Any:
    """The value with each large text replaced by its hash; the texts are added to `texts`."""
    if type(value) in ATOMS and (not isinstance(value, str) or len(value) < LARGE):
        return value
    match value:
        case str():
            return {"$text": _kept(value, texts)}
        case Mapping():
            # A field that happens to be named like one of our marks gets one more `$`, and loses it again in join.
            return {(f"${key}" if _marked(key) else key): split(item, texts) for key, item in value.items()}
        case list() if len(value) >= LONG and len(whole := compact(value)) >= LARGE:
            return {"$json": _kept(whole, texts)}
        case list():
            return [split(item, texts) for item in value]
        case _:
            return value


def _kept(text: str, texts: dict[str, str]) -> str:
    sha = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    texts[sha] = text
    return sha


def join(value: Any, read: Callable[[str], str]) -> Any:
    """The value with its large texts in place again."""
    match value:
        case {"$text": str(sha)}:
            return read(sha)
        case {"$json": str(sha)}:
            return json.loads(read(sha))
        case Mapping():
            return {(key[1:] if _marked(key) else key): join(item, read) for key, item in value.items()}
        case list():
            return [join(item, read) for item in value]
        case _:
            return value


def hashes(value: Any) -> Iterator[str]:
    """The hashes of the large texts that a split value refers to."""
    match value:
        case {"$text": str(sha)} | {"$json": str(sha)}:
            yield sha
        case Mapping():
            for item in value.values():
                yield from hashes(item)
        case list():
            for item in value:
                yield from hashes(item)


def _marked(key: str) -> bool:
    return key.startswith("$") and key.lstrip("$") in ("text", "json")
