"""Bounds the error texts that litellm searches for keys and causes: one may hold a whole answer, and takes minutes."""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

# Enough for any error message; weft itself shows 400 characters.
_MOST = 16_000
# litellm's functions that search a text, or the text of an error, in its event loop.
_SEARCHING = ("redact_string", "_python_redact_string", "_redact_string", "redact_internal_details", "exception_type")
# The modules that there were, for each litellm: an import that breaks off is started over, with another one.
_LOOKED_AT: WeakKeyDictionary[ModuleType, set[str]] = WeakKeyDictionary()


def bound() -> None:
    """Cut what litellm searches, wherever it does so: keys are still taken out of the rest.

    litellm imports some of its modules late, so every call comes here; where there are new ones, those are looked at.
    """
    _bound(len(sys.modules))


@lru_cache(maxsize=1)
def _bound(_modules: int) -> None:
    known = _LOOKED_AT.setdefault(sys.modules["litellm"], set())
    for name in sys.modules.keys() - known:
        module = sys.modules.get(name)
        if name.startswith("litellm") and module is not None:
            _bound_in(module)
        if not getattr(getattr(module, "__spec__", None), "_initializing", False):  # another thread may be at it
            known.add(name)


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
