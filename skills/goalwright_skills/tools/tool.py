"""The interface of a tool, for everything that offers or calls one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright_skills.tools.envelope import Envelope


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
