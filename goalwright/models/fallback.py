"""Several models in order: if one fails, the next is asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goalwright_planner.errors import ModelError, UnknownModel
from goalwright_planner.events import Warned

if TYPE_CHECKING:
    from goalwright_planner.events import Record
    from goalwright_planner.model import Model, Reply, Request


@dataclass(frozen=True, slots=True)
class FallbackModel:
    """Asks models in order until one answers; `unknown` collects names that no provider has, which are then skipped."""

    models: tuple[Model, ...]
    record: Record
    unknown: set[str] = field(default_factory=set)

    @property
    def name(self) -> str:
        """The name of the first model."""
        return self.models[0].name

    async def complete(self, request: Request) -> Reply:
        """Return the first answer; if every model fails, raise the error of the last one."""
        for model, substitute in zip(self.models, self.models[1:], strict=False):
            if model.name in self.unknown:
                continue
            try:
                return await model.complete(request)
            except UnknownModel as error:
                if model.name not in self.unknown:  # else a concurrent call has warned already
                    self.unknown.add(model.name)
                    self.record(Warned(f"{error}; falling back to {substitute.name} for the rest of the run"))
            except ModelError as error:
                self.record(Warned(f"{error}; falling back to {substitute.name}"))
        return await self.models[-1].complete(request)
