"""The effects of a call, from which a policy decides whether to ask a person first.

A tool may have three methods: `effects(arguments)`; `preview(arguments)`, the text that a person sees before they allow
the call, such as a diff; and `refusal(arguments)`, the error of a call that would fail, so that nobody is asked.
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
    """The reach of a call: nothing (it only reads), the run's artifacts, the workspace, or anything outside.

    An `idempotent` call may be repeated without harm.
    """

    reach: Reach = "artifacts"
    idempotent: bool = False

    @property
    def writes(self) -> bool:
        """Whether the call changes more than the run's own artifacts."""
        return self.reach in ("workspace", "outside")

    @property
    def repeatable(self) -> bool:
        """Whether the call may be repeated without asking if its outcome is unknown."""
        return self.idempotent or self.reach == "nothing"


READ_ONLY = Effects("nothing", idempotent=True)
_DEFAULT = Effects()  # a trusted program is confined to the run's artifacts


def changes_file(parameter: str) -> Callable[[Function], Function]:
    """Mark a function that writes one file of its `workspace`, named by a parameter.

    In a run, the rules of WriteFile apply: it may write the run's artifacts, and the workspace if `workspace_writes`
    allows it.
    """

    def marked(function: Function) -> Function:
        setattr(function, _CHANGES_FILE, parameter)
        return function

    return marked


def changed_file(function: object) -> str:
    """Return the parameter that names the written file; empty if the function is not marked."""
    return str(getattr(function, _CHANGES_FILE, ""))


def effects_of(tool: Tool, arguments: Mapping[str, Any]) -> Effects:
    """Return the effects of this call."""
    method = getattr(tool, "effects", None)
    return method(arguments) if callable(method) else _DEFAULT


def preview_of(tool: Tool, arguments: Mapping[str, Any]) -> str:
    """Return the text that a person sees before they allow this call."""
    method = getattr(tool, "preview", None)
    return method(arguments) if callable(method) else call_text(tool.name, arguments)


def refusal_of(tool: Tool, arguments: Mapping[str, Any]) -> Envelope | None:
    """Return the error of a call that would be refused; None if it may be made."""
    method = getattr(tool, "refusal", None)
    return method(arguments) if callable(method) else None


def call_text(name: str, arguments: Mapping[str, Any]) -> str:
    """Return a call as one line: the tool's name and its arguments as JSON."""
    text = f"{name}({json.dumps(dict(arguments), ensure_ascii=False, default=str)})"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text):,} characters)"
