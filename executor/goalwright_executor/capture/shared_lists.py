"""Lists that many runs record, such as the skills of a batch: captured, encoded and hashed once."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_MAX_LISTS = 8
_MAX_HASHES = 1000


class SharedList(list[Any]):
    """A captured list; `stored` is its hash and JSON, after the first store."""

    __slots__ = ("stored",)

    def __init__(self, items: list[Any]) -> None:
        super().__init__(items)
        self.stored: tuple[str, str] | None = None


class SharedLists:
    """The captured forms of the last tuples, by identity, and the hashes of offered tools; independent of the run."""

    def __init__(self) -> None:
        self._lists: OrderedDict[int, tuple[tuple[Any, ...], SharedList]] = OrderedDict()
        self._hashes: dict[tuple[str, str], tuple[Any, str]] = {}

    def get(self, value: tuple[Any, ...], capture: Callable[[Any], Any]) -> SharedList:
        """Return the captured form of a tuple, cached by identity."""
        entry = self._lists.get(id(value))
        if entry is not None:
            return entry[1]
        shared = SharedList([capture(item) for item in value])
        self._lists[id(value)] = (value, shared)  # keeps the tuple alive, so that its id stays unique
        while len(self._lists) > _MAX_LISTS:
            self._lists.popitem(last=False)
        return shared

    def hash_of(self, name: str, text: str, value: Any) -> str | None:
        """Return the noted hash of a name, a text and a value."""
        entry = self._hashes.get((name, text))
        return entry[1] if entry is not None and entry[0] == value else None

    def note_hash(self, name: str, text: str, value: Any, digest: str) -> None:
        """Note a hash that is the same in all runs."""
        if len(self._hashes) >= _MAX_HASHES:
            self._hashes.clear()
        self._hashes[name, text] = (value, digest)
