"""Bounds the error texts that litellm searches for keys and causes: one may hold a whole answer, and takes minutes."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

# Enough for any error message; goalwright itself shows 400 characters.
_MOST = 16_000
# litellm's functions that search a text, or the text of an error, in its event loop.
_SEARCHING = ("redact_string", "_python_redact_string", "_redact_string", "redact_internal_details", "exception_type")
# What was looked at, for each litellm: an import that breaks off is started over, with another one.
_LOOKED_AT: WeakKeyDictionary[ModuleType, _Looked] = WeakKeyDictionary()


@dataclass(slots=True)
class _Looked:
    """The modules that were looked at, and those that were still being imported then."""

    at: set[str] = field(default_factory=set)
    early: set[str] = field(default_factory=set)

    def new(self) -> set[str]:
        """The modules to look at: of all, only the newest are read, since there are thousands."""
        count, found = 0, list[str]()
        while len(found) == count < len(sys.modules):
            count = 2 * count or 16
            found = [name for name in list(islice(reversed(sys.modules), count)) if name not in self.at]
        return {*found, *self.early}


def bound() -> None:
    """Cut what litellm searches, wherever it does so: keys are still taken out of the rest.

    litellm imports some of its modules late, so every call comes here; where there are new ones, those are looked at.
    """
    _bound(len(sys.modules))


@lru_cache(maxsize=1)
def _bound(_modules: int) -> None:
    looked = _LOOKED_AT.setdefault(sys.modules["litellm"], _Looked())
    for name in looked.new():
        module = sys.modules.get(name)
        if name.startswith("litellm") and module is not None:
            _bound_in(module)
        is_early = getattr(getattr(module, "__spec__", None), "_initializing", False)  # another thread may be at it
        looked.at.add(name)
        (looked.early.add if is_early else looked.early.discard)(name)


def _bound_in(module: ModuleType) -> None:
    for name in _SEARCHING:
        function = vars(module).get(name)
        if callable(function) and not hasattr(function, "is_bounded"):
            setattr(module, name, _bounded(function))


def _bounded(function: Callable[..., Any]) -> Callable[..., Any]:
    def search(*values: Any, **named: Any) -> Any:
        return function(*map(_cut, values), **{name: _cut(value) for name, value in named.items()})

    search.is_bounded = True  # type: ignore[attr-defined]
    return search


def _cut(value: Any) -> Any:
    if isinstance(value, str) and len(value) > _MOST:
        return value[:_MOST] + " …"
    if isinstance(value, Exception):
        value.args = tuple(map(_cut, value.args))
        if isinstance(message := getattr(value, "message", None), str) and len(message) > _MOST:
            value.message = _cut(message)  # type: ignore[attr-defined]
    return value
