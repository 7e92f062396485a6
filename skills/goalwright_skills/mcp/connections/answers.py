"""What a server answers, as plain JSON values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class CallAnswer:
    """What a server answered to a call."""

    content: tuple[Mapping[str, Any], ...] = ()
    structured: Any = None
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class ServerOffer:
    """What a server offers, as it says it: tools, prompts, and whether it has resources."""

    tools: list[dict[str, Any]]
    prompts: list[dict[str, Any]] = field(default_factory=list)
    resources: bool = False


CheckTools = Callable[[ServerOffer], None]
