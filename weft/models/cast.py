"""Which model plays which role, each with everything that is wrapped around a call.

remembered → within the budget → recorded → with fallbacks → retried → the provider
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from executor.memory import Remembering
from skills.errors import SetupError
from weft.models.budget import Budget, Metered
from weft.models.fallback import Fallback
from weft.models.provider import Provider
from weft.models.recording import Recording
from weft.models.retry import Patience, Retrying

if TYPE_CHECKING:
    from executor.memory import Memory
    from planner.model import Model, Role
    from weft.models.capabilities import Capabilities
    from weft.settings import Settings

Open = Callable[[str], "Model"]


@dataclass(slots=True)
class Cast:
    """The models of one run. They share its budget, its record and what it has finished."""

    settings: Settings
    memory: Memory
    budget: Budget
    open: Open
    _known: dict[str, Model] = field(default_factory=dict)

    def playing(self, role: Role) -> Model:
        """The model for a role: its own where one is set, else the run's."""
        own = getattr(self.settings, role, None)
        if own is None and self.settings.model is None:
            raise no_model()
        return self.named(own or str(self.settings.model))

    def named(self, name: str) -> Model:
        """The model of that name, with the run's fallbacks behind it."""
        if name not in self._known:
            record = self.memory.record
            patience = Patience(seconds=self.settings.retry_patience)
            names = dict.fromkeys((name, *self.settings.fallback))
            chain = tuple(Retrying(self.open(one), patience, record) for one in names)
            model = chain[0] if len(chain) == 1 else Fallback(chain, record)
            metered = Metered(Recording(model, record), self.budget, record)
            self._known[name] = Remembering(metered, self.memory)
        return self._known[name]


def opener(settings: Settings, capabilities: Capabilities) -> Open:
    """Opens models by their litellm names."""
    parameters = {"api_base": settings.api_base} if settings.api_base else {}

    def open_model(name: str) -> Model:
        return Provider(name, settings.call_timeout, capabilities, parameters)

    return open_model


def no_model() -> SetupError:
    """Nothing says which model to use; the choices are spelled out."""
    return SetupError(
        "no model is chosen",
        hint="name one with --model (such as openai/gpt-4o or ollama/llama3), in WEFT_MODEL, or as model in weft.toml",
    )
