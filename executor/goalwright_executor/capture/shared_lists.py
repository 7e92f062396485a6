"""What many runs record, such as the skills of all goals of a batch: captured, encoded and hashed once."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST_KEPT = 8
_MOST_HASHES = 1000


class SharedList(list[Any]):
    """A captured list; `stored` is its hash and its JSON, once a store has made them."""

    __slots__ = ("stored",)

    def __init__(self, items: list[Any]) -> None:
        super().__init__(items)
        self.stored: tuple[str, str] | None = None


class SharedLists:
    """The captured forms of the last tuples, found by identity; they must not depend on the run.

    So are the hashes of offered tools, by what they are hashed from: most runs offer the same.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[int, tuple[tuple[Any, ...], SharedList]] = OrderedDict()
        self._hashes: dict[tuple[str, str], tuple[Any, str]] = {}

    def get(self, value: tuple[Any, ...], capture: Callable[[Any], Any]) -> SharedList:
        """The captured form of a tuple, made if it is not known."""
        known = self._known.get(id(value))
        if known is not None:
            return known[1]
        made = SharedList([capture(item) for item in value])
        self._known[id(value)] = (value, made)  # the tuple is kept, so that no other can have its id
        while len(self._known) > _MOST_KEPT:
            self._known.popitem(last=False)
        return made

    def hash_of(self, name: str, text: str, value: Any) -> str | None:
        """The hash that was noted for a name, a text and a value."""
        known = self._hashes.get((name, text))
        return known[1] if known is not None and known[0] == value else None

    def note_hash(self, name: str, text: str, value: Any, found: str) -> None:
        """Note a hash that is the same in all runs."""
        if len(self._hashes) >= _MOST_HASHES:
            self._hashes.clear()
        self._hashes[name, text] = (value, found)
