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
        """The name of what still has to be loaded; empty if nothing has."""

    async def load(self) -> str:
        """Load it; return a note for the user, such as that it is slow on this machine, or an empty text."""


class Models(Protocol):
    """Which model fills which role; `called` is a name of `[models]` in the settings that replaces the role's model."""

    def for_role(self, role: Role, called: str | None = None) -> Model:
        """Return the model for a role."""

    def named(self, name: str) -> Model:
        """Return the model of that name, for a skill that asks for one."""

    async def ready(self, role: Role) -> None:
        """Load everything that the model for a role needs before its first call."""

    def profile(self, role: Role, task: str | None = None, called: str | None = None) -> Profile:
        """Return the profile of the model in a role, or in the role for one task."""
