"""Which model plays which role, each with everything that is wrapped around a call.

remembered → within the budget → recorded → with fallbacks → retried → the provider
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from executor.tasks.memo import MemoModel
from skills.errors import SetupError
from weft.models.budget import Budget, BudgetedModel
from weft.models.fallback import FallbackModel
from weft.models.open import OpenModel, profile_of
from weft.models.recording import RecordingModel
from weft.models.retry import RetryingModel, RetryPolicy
from weft.settings.default_model import choices

if TYPE_CHECKING:
    from collections.abc import Callable

    from executor.tasks.memo import Memo
    from planner.model import Model, Role
    from planner.prompting.profile import Profile
    from weft.settings.settings import Settings


@dataclass(slots=True)
class RoleModels:
    """The models of one run. They share its budget, its record and what it has finished."""

    settings: Settings
    memo: Memo
    budget: Budget
    open: OpenModel
    profile_of: Callable[[str], Profile] = profile_of
    _known: dict[str, Model] = field(default_factory=dict)
    _unknown: set[str] = field(default_factory=set)

    def for_role(self, role: Role) -> Model:
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
            record = self.memo.record
            patience = RetryPolicy(seconds=self.settings.retry_patience)
            names = dict.fromkeys((name, *self.settings.fallback))
            chain = tuple(RetryingModel(self.open(one), patience, record) for one in names)
            model = chain[0] if len(chain) == 1 else FallbackModel(chain, record, self._unknown)
            metered = BudgetedModel(RecordingModel(model, record), self.budget, record)
            self._known[name] = MemoModel(metered, self.memo)
        return self._known[name]
