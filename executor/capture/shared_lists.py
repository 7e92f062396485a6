"""Lists that many runs record, such as the skills of all goals of a batch: captured, encoded and hashed once."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST_KEPT = 8


class SharedList(list[Any]):
    """A captured list; `stored` is its hash and its JSON, once a store has made them."""

    __slots__ = ("stored",)

    def __init__(self, items: list[Any]) -> None:
        super().__init__(items)
        self.stored: tuple[str, str] | None = None


class SharedLists:
    """The captured forms of the last tuples, found by identity; they must not depend on the run."""

    def __init__(self) -> None:
        self._known: OrderedDict[int, tuple[tuple[Any, ...], SharedList]] = OrderedDict()

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
