"""The models that the settings name, and the default model where they name none."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from goalwright.models.litellm import stored_keys
from goalwright.settings import ollama
from goalwright.settings.default_model import choices, choose, local_is_installed
from goalwright_skills.selection import detectors

if TYPE_CHECKING:
    from goalwright.settings.default_model import Choice
    from goalwright.settings.settings import Settings
    from goalwright_planner.plan.plan import Plan


class ModelChoice:
    """The models of a runtime; the default one is looked for when a run first needs it.

    Creating it loads the keys that `goalwright keys` stores, as if they were in the environment.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        stored_keys.load(os.environ)

    @cached_property
    def default(self) -> Choice:
        """The model for roles that have none of their own: the configured one, else the first available."""
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
        """Whether a goal calls a model; with a plan of tools alone, it may not."""
        return plan is None or plan.needs_model or self._settings.detector == detectors.ASKING

    def settings(self) -> Settings:
        """The settings with the default model filled in, for the run's record."""
        if self._settings.model is not None or not self.needs_default:
            return self._settings
        return replace(self._settings, model=self.default.model)

    @property
    def _own(self) -> tuple[str | None, ...]:
        """The models that the settings name for single roles."""
        settings = self._settings
        detector = (settings.detector_model,) if settings.detector == detectors.ASKING else ()
        return settings.decomposer, settings.task, settings.synthesis, *detector

    @property
    def needs_default(self) -> bool:
        """Whether the settings name a model for all roles, or leave a role without one."""
        return self._settings.model is not None or not all(self._own)


def ways() -> str:
    """The ways to get a model, with the size of the local one, as a hint."""
    return choices(local_download(), local_installed=local_is_installed())


def local_download() -> str:
    """The name, size and licence of the local model's download."""
    from goalwright.models.local import catalogue  # here, since most runs have another model
    from goalwright.models.local.downloads.progress import megabytes

    entry = catalogue.read().find()
    return f"{entry.title} ({megabytes(entry.bytes)}, {entry.licence})"
