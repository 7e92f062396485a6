"""The model for each role, wrapped in the layers of a call (see the package's docstring)."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goalwright.models.budget import Budget, BudgetedModel
from goalwright.models.choice import ways
from goalwright.models.fallback import FallbackModel
from goalwright.models.images import ImageModel
from goalwright.models.litellm.prices import PriceList
from goalwright.models.metered import MeteredModel
from goalwright.models.open import OpenModel, profile_of
from goalwright.models.recording import RecordingModel
from goalwright.models.retry import RetryingModel, RetryPolicy
from goalwright.settings.default_model import NoModel
from goalwright_executor.results.memo import MemoModel
from goalwright_planner.events import ModelLoaded, ModelLoading, Warned
from goalwright_planner.prompting.models import Loadable
from goalwright_skills.errors import GoalwrightError

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
    _wrapped: dict[str, Model] = field(default_factory=dict)
    _opened: dict[str, Model] = field(default_factory=dict)
    _unknown: set[str] = field(default_factory=set)

    def for_role(self, role: Role, called: str | None = None) -> Model:
        """The model that `[models]` names `called`, else the role's own, else the run's."""
        return self.named(self.name_of(role, called))

    def name_of(self, role: Role, called: str | None = None) -> str:
        """The name of the model for a role."""
        name = self.settings.model_for(role) if called is None else self.settings.model_called(called)
        if name is None:
            raise NoModel(ways())
        return name

    async def ready(self, role: Role) -> None:
        """Load the model for a role in advance, so that the time does not count for its first call or task."""
        name = self.name_of(role)
        self.named(name)
        model = self._opened[name]
        if isinstance(model, Loadable) and (needs := model.needs):
            self.memo.record(ModelLoading(name, needs))
            started = time.monotonic()
            warning = ""
            with suppress(GoalwrightError):  # the call itself reports it, or tries again
                warning = await model.load()
            self.memo.record(ModelLoaded(name, needs, time.monotonic() - started))
            if warning:
                self.memo.record(Warned(warning))

    def profile(self, role: Role, task: str | None = None, called: str | None = None) -> Profile:
        """The profile of the model for a role."""
        return self.profile_of(self.name_of(role, called))

    def named(self, name: str) -> Model:
        """The model with this name, with all layers and the run's fallbacks."""
        if name not in self._wrapped:
            models = {each: self.open(each) for each in dict.fromkeys((name, *self.settings.fallback))}
            self._opened[name] = models[name]
            retrying = tuple(map(self._retrying, models.values()))
            record = self.memo.record
            model = retrying[0] if len(retrying) == 1 else FallbackModel(retrying, record, self._unknown)
            self._wrapped[name] = MemoModel(RecordingModel(model, record), self.memo)
        return self._wrapped[name]

    def _retrying(self, model: Model) -> Model:
        """The layers that each attempt at a call passes."""
        record, settings = self.memo.record, self.settings
        metered = MeteredModel(model, PriceList(settings.prices or {}))
        budgeted = BudgetedModel(metered, self.budget, record)
        seeing = ImageModel(budgeted, self.memo.images, settings.sees(model.name))
        return RetryingModel(seeing, RetryPolicy(seconds=settings.retry_patience), record)
