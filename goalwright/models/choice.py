"""Which models the settings ask for, and which one works where they name none."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from goalwright.models.litellm import stored_keys
from goalwright.models.ways import ways
from goalwright.settings import ollama
from goalwright.settings.default_model import choose, local_is_installed
from goalwright_skills.selection import detectors

if TYPE_CHECKING:
    from goalwright.settings.default_model import Choice
    from goalwright.settings.settings import Settings
    from goalwright_planner.plan.plan import Plan


class ModelChoice:
    """The models of a runtime. The default is looked for once, when a run first needs it.

    Keys that the user keeps with `goalwright keys` count from here on, as if they were in the environment.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        stored_keys.load(os.environ)

    @cached_property
    def default(self) -> Choice:
        """The model for roles that have none of their own, and why: the one that is set, else the first found."""
        probe = partial(ollama.probe, os.environ)
        return choose(os.environ, self._settings.model, probe, local_is_installed(), ways=ways)

    @property
    def names(self) -> tuple[str, ...]:
        """Every model that a run may call, fallbacks included."""
        default = [self.default.model] if self.needs_default else []
        settings = self._settings
        own = (name for name in (*self._own, settings.checker, *(settings.models or {}).values()) if name)
        return tuple(dict.fromkeys((*own, *settings.fallback, *default)))

    def needed_for(self, plan: Plan | None) -> bool:
        """Whether a goal with this plan, or without one, calls a model: a plan of tools alone may not."""
        return plan is None or plan.needs_model or self._settings.detector == detectors.ASKING

    def settings(self) -> Settings:
        """The settings with a model in them, so that the run's record says which it was."""
        if self._settings.model is not None or not self.needs_default:
            return self._settings
        return replace(self._settings, model=self.default.model)

    @property
    def _own(self) -> tuple[str | None, ...]:
        """The models that single roles have of their own."""
        settings = self._settings
        detector = (settings.detector_model,) if settings.detector == detectors.ASKING else ()
        return settings.decomposer, settings.task, settings.synthesis, *detector

    @property
    def needs_default(self) -> bool:
        """Whether a run calls a model that the settings do not name for its role, or name for all."""
        return self._settings.model is not None or not all(self._own)
