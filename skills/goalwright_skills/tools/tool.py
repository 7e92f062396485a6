"""The interface of a tool, the exception that tools raise, and the names that tools may have."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright_skills.tools.envelope import Code, Envelope


class DescribedTool(Protocol):
    """A tool as it is offered to a model."""

    @property
    def name(self) -> str:
        """The tool's name."""

    @property
    def description(self) -> str:
        """What the tool does and when to use it, for the model."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters as a JSON schema of type object."""


class Tool(DescribedTool, Protocol):
    """A tool that a model or a plan can call; bound to its workspace and run when it is created.

    It may also declare and preview the effects of a call: see `goalwright_skills.tools.effects`.
    """

    async def call(self, arguments: Mapping[str, Any]) -> Envelope:
        """Call the tool; every failure is an envelope, never an exception."""


class ToolFault(Exception):
    """Raised by a function to report an error: a code, and a message that ends with the next step."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


NAME = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)+")
# Names of built-in tools that nothing else may take, because the user enables them by name.
RESERVED = frozenset({"python_run", "shell_run", "run_script"})
NAME_LIMIT = 64  # the limit of providers on a function's name


@dataclass(frozen=True, slots=True)
class RecordedTool:
    """A function that a run was offered when it began and that does not exist here; its results are recorded."""

    name: str
    description: str
    parameters: Mapping[str, Any]

    async def call(self, arguments: Mapping[str, Any]) -> Envelope:
        """Fail, because the function is not available here."""
        from goalwright_skills.tools.envelope import Context, failure  # heavier than what in-process tools need

        message = f"{self.name} was a function where this run began, and is not available here — go on without it"
        return failure("NOT_FOUND", message, Context("", dict(arguments)))
