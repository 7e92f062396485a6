"""Models and what belongs to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from planner.model import Model, Role
    from planner.prompting.profile import Profile


class Models(Protocol):
    """Which model plays which role."""

    def for_role(self, role: Role) -> Model:
        """The model for a role."""

    def named(self, name: str) -> Model:
        """The model of that name, for a skill that asks for one."""

    def profile(self, role: Role, task: str | None = None) -> Profile:
        """How the model that plays a role, for a task where it is one's, is worked with."""
