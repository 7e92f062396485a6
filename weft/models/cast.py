"""Which model plays which role, each with everything that is wrapped around a call.

remembered → within the budget → recorded → with fallbacks → retried → the provider
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from executor.memory import Remembering
from planner.profile import profile_of as profile_by_name
from skills.errors import SetupError
from weft.choose import LOCAL, choices
from weft.models.budget import Budget, Metered
from weft.models.fallback import Fallback
from weft.models.provider import Provider
from weft.models.recording import Recording
from weft.models.retry import Patience, Retrying

if TYPE_CHECKING:
    from executor.memory import Memory
    from planner.model import Model, Role
    from planner.profile import Profile
    from weft.models.capabilities import Capabilities
    from weft.settings import Settings

Open = Callable[[str], "Model"]


def opener(settings: Settings, capabilities: Capabilities) -> Open:
    """Opens models: the embedded one by `local`, all others by their litellm names."""
    parameters = {"api_base": settings.api_base} if settings.api_base else {}

    def open_model(name: str) -> Model:
        if is_local(name):
            from weft.local.model import LocalModel

            return LocalModel(name, settings.call_timeout)
        return Provider(name, settings.call_timeout, capabilities, parameters, profile_of(name).sampling)

    return open_model


def profile_of(name: str) -> Profile:
    """How a model is worked with: the embedded one by its entry, others by their names."""
    if is_local(name):
        from weft.local import model

        return model.profile(name)
    return profile_by_name(name)


def is_local(name: str) -> bool:
    """Whether a model's name means the embedded one."""
    return name == LOCAL or name.startswith(f"{LOCAL}/")


@dataclass(slots=True)
class Cast:
    """The models of one run. They share its budget, its record and what it has finished."""

    settings: Settings
    memory: Memory
    budget: Budget
    open: Open
    profile_of: Callable[[str], Profile] = profile_of
    _known: dict[str, Model] = field(default_factory=dict)
    _unknown: set[str] = field(default_factory=set)

    def playing(self, role: Role) -> Model:
        """The model for a role: its own where one is set, else the run's."""
        return self.named(self.name_of(role))

    def name_of(self, role: Role) -> str:
        """The name of the model for a role."""
        name = self.settings.model_for(role)
        if name is None:
            raise SetupError("no model is named, and none was found", hint=choices())
        return name

    def profile(self, role: Role, task: str | None = None) -> Profile:
        """How the model for a role is worked with."""
        return self.profile_of(self.name_of(role))

    def named(self, name: str) -> Model:
        """The model of that name, with the run's fallbacks behind it."""
        if name not in self._known:
            record = self.memory.record
            patience = Patience(seconds=self.settings.retry_patience)
            names = dict.fromkeys((name, *self.settings.fallback))
            chain = tuple(Retrying(self.open(one), patience, record) for one in names)
            model = chain[0] if len(chain) == 1 else Fallback(chain, record, self._unknown)
            metered = Metered(Recording(model, record), self.budget, record)
            self._known[name] = Remembering(metered, self.memory)
        return self._known[name]
