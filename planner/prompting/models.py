"""The Models port: which model fills which role."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from planner.model import Model, Role
    from planner.prompting.profile import Profile


class Models(Protocol):
    """Which model fills which role."""

    def for_role(self, role: Role) -> Model:
        """The model for a role."""

    def named(self, name: str) -> Model:
        """The model of that name, for a skill that asks for one."""

    def profile(self, role: Role, task: str | None = None) -> Profile:
        """The profile of the model in a role, or in the role for one task."""
