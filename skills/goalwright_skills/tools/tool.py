"""The interface of a tool, for everything that offers or calls one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from goalwright_skills.tools.envelope import Context, Envelope, failure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright_skills.tools.envelope import Code, Envelope


class DescribedTool(Protocol):
    """A tool as it is offered: what it is called, does and takes."""

    @property
    def name(self) -> str:
        """The name by which it is called."""

    @property
    def description(self) -> str:
        """What it does and when to use it, for the model."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Its parameters as a JSON schema of type object."""


class Tool(DescribedTool, Protocol):
    """Something a model or a plan can call; bound to its workspace and run when it is created.

    It may also tell what a call can change, and preview it: see `goalwright_skills.tools.effects`.
    """

    async def call(self, arguments: Mapping[str, Any]) -> Envelope:
        """Call it; every failure is an envelope, never an exception."""


class ToolFault(Exception):
    """Raised by a function to report a failure: a code, and a message that ends with the next step."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


NAME = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)+")
# Names of built-in tools, which nothing else may take: what a user switches on by them must be those.
RESERVED = frozenset({"python_run", "shell_run", "run_script"})
NAME_LIMIT = 64  # the limit of providers on a function's name


@dataclass(frozen=True, slots=True)
class RecordedTool:
    """The name, description and parameters of a function that a run was offered when it began."""

    name: str
    description: str
    parameters: Mapping[str, Any]

    async def call(self, arguments: Mapping[str, Any]) -> Envelope:
        """Say that it cannot be called here; in a replay, its results come from the record."""
        what = f"{self.name} was a function where this run began, and is not here — go on without it"
        return failure("NOT_FOUND", what, Context("", dict(arguments)))
