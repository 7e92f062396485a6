"""Open and what belongs to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from planner.prompting.profile import profile_of as profile_by_name
from weft.providers.litellm_model import LitellmModel

if TYPE_CHECKING:
    from planner.model import Model
    from planner.prompting.profile import Profile
    from weft.providers.capabilities import Capabilities
    from weft.settings.settings import Settings
from weft.settings.default_model import is_local

OpenModel = Callable[[str], "Model"]


def model_opener(settings: Settings, capabilities: Capabilities) -> OpenModel:
    """Opens models: the embedded one by `local`, all others by their litellm names."""
    parameters = {"api_base": settings.api_base} if settings.api_base else {}

    def open_model(name: str) -> Model:
        if is_local(name):
            from weft.local.model import LocalModel

            return LocalModel(name, settings.call_timeout)
        return LitellmModel(name, settings.call_timeout, capabilities, parameters, profile_of(name).sampling)

    return open_model


def profile_of(name: str) -> Profile:
    """How a model is worked with: the embedded one by its entry, others by their names."""
    if is_local(name):
        from weft.local import model

        return model.profile(name)
    return profile_by_name(name)
