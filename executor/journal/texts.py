"""Large texts stand outside their event, stored once by their SHA-256, however often they are said."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from planner.events import ATOMS

LARGE = 400
MARK = "$text"


def split(value: Any, texts: dict[str, str]) -> Any:
    """The value with each large text replaced by its hash; the texts are added to `texts`."""
    if type(value) in ATOMS and (not isinstance(value, str) or len(value) < LARGE):
        return value
    match value:
        case str():
            sha = hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
            texts[sha] = value
            return {MARK: sha}
        case Mapping():
            # A field that happens to be named like our own mark gets one more `$`, and loses it again in join.
            return {(f"${key}" if _marked(key) else key): split(item, texts) for key, item in value.items()}
        case list():
            return [split(item, texts) for item in value]
        case _:
            return value


def join(value: Any, read: Callable[[str], str]) -> Any:
    """The value with its large texts in place again."""
    match value:
        case {"$text": str(sha)}:
            return read(sha)
        case Mapping():
            return {(key[1:] if _marked(key) else key): join(item, read) for key, item in value.items()}
        case list():
            return [join(item, read) for item in value]
        case _:
            return value


def hashes(value: Any) -> Iterator[str]:
    """The hashes of the large texts that a split value refers to."""
    match value:
        case {"$text": str(sha)}:
            yield sha
        case Mapping():
            for item in value.values():
                yield from hashes(item)
        case list():
            for item in value:
                yield from hashes(item)


def _marked(key: str) -> bool:
    return key.startswith("$") and key.lstrip("$") == "text"
