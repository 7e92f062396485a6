"""What calling a tool can change: the facts by which a policy decides whether to ask first.

A tool tells them in a method `effects(arguments)`, and what a person should see before they allow the call, such as
the difference that it makes, in `preview(arguments)`; a call that will be refused is answered by `refusal(arguments)`
before anybody is asked. All are optional.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from goalwright_skills.tools.envelope import Envelope
    from goalwright_skills.tools.tool import Tool

Reach = Literal["nothing", "artifacts", "workspace", "outside"]

Function = TypeVar("Function", bound="Callable[..., Any]")
_CHANGES_FILE = "goalwright_changes_file"

_SHOWN = 4_000


@dataclass(frozen=True, slots=True)
class Effects:
    """How far a call reaches: nothing (it only reads), the run's artifacts, the workspace, or anything outside.

    Repeating a call that is `idempotent` does no harm; one that only reads always is.
    """

    reach: Reach = "artifacts"
    idempotent: bool = False

    @property
    def writes(self) -> bool:
        """Whether it changes more than the run's own artifacts."""
        return self.reach in ("workspace", "outside")

    @property
    def repeatable(self) -> bool:
        """Whether the call may be made again without asking, if it is not known whether it was done."""
        return self.idempotent or self.reach == "nothing"


READ_ONLY = Effects("nothing", idempotent=True)
_UNTOLD = Effects()  # a trusted program: it is confined to the run's artifacts


def changes_file(parameter: str) -> Callable[[Function], Function]:
    """Mark a function that writes one file of its `workspace`, which a parameter names.

    In a run, it goes by the same rules as WriteFile: it may write the run's artifacts, and the workspace with --write.
    """

    def marked(function: Function) -> Function:
        setattr(function, _CHANGES_FILE, parameter)
        return function

    return marked


def changed_file(function: object) -> str:
    """The parameter that names the file which a function writes; empty if it is not marked so."""
    return str(getattr(function, _CHANGES_FILE, ""))


def effects_of(tool: Tool, arguments: Mapping[str, Any]) -> Effects:
    """What this call can change."""
    told = getattr(tool, "effects", None)
    return told(arguments) if callable(told) else _UNTOLD


def preview_of(tool: Tool, arguments: Mapping[str, Any]) -> str:
    """What a person should see before they allow this call."""
    told = getattr(tool, "preview", None)
    return told(arguments) if callable(told) else call_text(tool.name, arguments)


def refusal_of(tool: Tool, arguments: Mapping[str, Any]) -> Envelope | None:
    """The answer to a call that will be refused; None if it may be made."""
    told = getattr(tool, "refusal", None)
    return told(arguments) if callable(told) else None


def call_text(name: str, arguments: Mapping[str, Any]) -> str:
    """A call as one line: the tool's name and its arguments as JSON."""
    text = f"{name}({json.dumps(dict(arguments), ensure_ascii=False, default=str)})"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text):,} characters)"
