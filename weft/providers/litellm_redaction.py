"""Bounds litellm's search for keys in error texts, which may hold a whole answer and would take minutes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

# Enough for any error message; weft itself shows 400 characters.
_MOST = 16_000
_NAMES = ("redact_string", "_python_redact_string", "_redact_string", "redact_internal_details")


def bound() -> None:
    """Cut what litellm redacts, wherever it does so: what is left is still redacted."""
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("litellm"):
            for name in _NAMES:
                function = vars(module).get(name)
                if callable(function) and not hasattr(function, "is_bounded"):
                    setattr(module, name, _bounded(function))


def _bounded(function: Callable[..., Any]) -> Callable[..., Any]:
    def redact(value: Any, *arguments: Any, **named: Any) -> Any:
        cut = value[:_MOST] + " …" if isinstance(value, str) and len(value) > _MOST else value
        return function(cut, *arguments, **named)

    redact.is_bounded = True  # type: ignore[attr-defined]
    return redact
