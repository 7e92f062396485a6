"""The forms in which a plan can be drawn, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright.traces.drawing.dot import dot
from goalwright.traces.drawing.mermaid import mermaid
from goalwright.traces.drawing.svg import svg

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from goalwright_planner.plan.plan import Plan

FORMS: Mapping[str, Callable[[Plan], str]] = {"mermaid": mermaid, "dot": dot, "svg": svg}
