"""The model for each role, with everything that wraps a call, from the outside in:

finished calls are reused → recording → fallbacks → retries → images → budget → what it took → the provider
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goalwright.models.budget import Budget, BudgetedModel
from goalwright.models.fallback import FallbackModel
from goalwright.models.litellm.prices import PriceList
from goalwright.models.metered import MeteredModel
from goalwright.models.open import OpenModel, profile_of
from goalwright.models.recording import RecordingModel
from goalwright.models.retry import RetryingModel, RetryPolicy
from goalwright.models.showing import ShowingModel
from goalwright.models.ways import ways
from goalwright.settings.default_model import NO_MODEL
from goalwright_executor.results.memo import MemoModel
from goalwright_planner.events import ModelLoaded, ModelLoading, Warned
from goalwright_planner.prompting.models import Loadable
from goalwright_skills.errors import GoalwrightError, SetupError

if TYPE_CHECKING:
    from collections.abc import Callable

    from goalwright.settings.settings import Settings
    from goalwright_executor.results.memo import Memo
    from goalwright_planner.model import Model, Role
    from goalwright_planner.prompting.profile import Profile


@dataclass(slots=True)
class RoleModels:
    """The models of one run; they share its budget, its record and its finished calls."""

    settings: Settings
    memo: Memo
    budget: Budget
    open: OpenModel
    profile_of: Callable[[str], Profile] = profile_of
    _known: dict[str, Model] = field(default_factory=dict)
    _opened: dict[str, Model] = field(default_factory=dict)
    _unknown: set[str] = field(default_factory=set)

    def for_role(self, role: Role, called: str | None = None) -> Model:
        """The model that is called so in the settings, else the role's own if set, else the run's."""
        return self.named(self.name_of(role, called))

    def name_of(self, role: Role, called: str | None = None) -> str:
        """The name of the model for a role."""
        name = self.settings.model_for(role) if called is None else self.settings.model_called(called)
        if name is None:
            raise SetupError(NO_MODEL, hint=ways())
        return name

    async def ready(self, role: Role) -> None:
        """Load what the model for a role needs, so that neither its first call nor its task counts the time."""
        name = self.name_of(role)
        self.named(name)
        model = self._opened[name]
        if isinstance(model, Loadable) and (what := model.needs):
            self.memo.record(ModelLoading(name, what))
            began = time.monotonic()
            note = ""
            with suppress(GoalwrightError):  # the call itself reports it, or tries again
                note = await model.load()
            self.memo.record(ModelLoaded(name, what, time.monotonic() - began))
            if note:
                self.memo.record(Warned(note))

    def profile(self, role: Role, task: str | None = None, called: str | None = None) -> Profile:
        """The profile of the model for a role."""
        return self.profile_of(self.name_of(role, called))

    def named(self, name: str) -> Model:
        """The model of that name, with the run's fallbacks behind it."""
        if name not in self._known:
            record = self.memo.record
            policy = RetryPolicy(seconds=self.settings.retry_patience)
            names = dict.fromkeys((name, *self.settings.fallback))
            opened = {name: self.open(name) for name in names}
            self._opened[name] = opened[name]
            prices = PriceList(self.settings.prices or {})
            metered = (MeteredModel(model, prices) for model in opened.values())
            budgeted = (BudgetedModel(model, self.budget, record) for model in metered)
            showing = (ShowingModel(model, self.memo.images, self.settings.sees(model.name)) for model in budgeted)
            chain = tuple(RetryingModel(model, policy, record) for model in showing)
            model = chain[0] if len(chain) == 1 else FallbackModel(chain, record, self._unknown)
            self._known[name] = MemoModel(RecordingModel(model, record), self.memo)
        return self._known[name]
