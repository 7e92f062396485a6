"""The base of models that wrap another model, to retry, record or limit its calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goalwright_planner.model import Model


@dataclass(frozen=True, slots=True)
class WrappedModel:
    """The base of a model that wraps the calls of another model and has its name."""

    model: Model

    @property
    def name(self) -> str:
        """The name of the wrapped model."""
        return self.model.name
