"""The Models port: which model fills which role."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from goalwright_planner.model import Model, Role
    from goalwright_planner.prompting.profile import Profile


@runtime_checkable
class Loadable(Protocol):
    """A model that needs something loaded before its first call."""

    @property
    def needs(self) -> str:
        """What is still to be loaded, as people know it; empty if nothing is."""

    async def load(self) -> str:
        """Load it; returns what the user should know of it, such as that it is slow here, else nothing."""


class Models(Protocol):
    """Which model fills which role; `called` is a name of `[models]` in the settings that is asked for instead."""

    def for_role(self, role: Role, called: str | None = None) -> Model:
        """The model for a role."""

    def named(self, name: str) -> Model:
        """The model of that name, for a skill that asks for one."""

    async def ready(self, role: Role) -> None:
        """Load what the model for a role needs, so that its first call does not have to."""

    def profile(self, role: Role, task: str | None = None, called: str | None = None) -> Profile:
        """The profile of the model in a role, or in the role for one task."""
