"""What the models have in common that do something around the calls of another one: retry, record, limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goalwright_planner.model import Model


@dataclass(frozen=True, slots=True)
class WrappedModel:
    """The base of a model that does something around the calls of another one, whose name it has."""

    model: Model

    @property
    def name(self) -> str:
        """The name of the model itself."""
        return self.model.name
