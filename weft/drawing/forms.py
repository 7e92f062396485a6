"""The forms in which a plan can be drawn, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.drawing.dot import dot
from weft.drawing.mermaid import mermaid
from weft.drawing.svg import svg

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from weft_planner.plan.plan import Plan

FORMS: Mapping[str, Callable[[Plan], str]] = {"mermaid": mermaid, "dot": dot, "svg": svg}
