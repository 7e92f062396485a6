"""Opens a model by its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from goalwright.models.litellm.model import LitellmModel
from goalwright.settings.default_model import is_local
from goalwright.settings.settings import Settings
from goalwright_planner.prompting.profile import profile_of as profile_by_name

if TYPE_CHECKING:
    from goalwright.models.litellm.capabilities import Capabilities
    from goalwright_planner.model import Model
    from goalwright_planner.prompting.profile import Profile

OpenModel = Callable[[str], "Model"]


def model_opener(settings: Settings, capabilities: Capabilities) -> OpenModel:
    """Return a function that opens models: the embedded one as `local`, all others by their litellm names."""
    parameters = {"api_base": settings.api_base} if settings.api_base else {}

    def open_model(name: str) -> Model:
        if is_local(name):
            return _open_local(name, settings)
        profile = profile_of(name)
        own = profile.providers.get(name.partition("/")[0].lower(), {})
        return LitellmModel(name, settings.call_timeout, capabilities, {**own, **parameters}, profile.sampling)

    return open_model


def _open_local(name: str, settings: Settings) -> Model:
    from goalwright.models.local.model import LocalModel
    from goalwright.models.local.serving.time_limits import LocalLimits

    # Unless the user sets a limit for calls, it is derived from the speed of this machine.
    is_default = settings.call_timeout == Settings().call_timeout
    call = None if is_default else settings.call_timeout
    return LocalModel(name, LocalLimits(call, settings.task_timeout, settings.timeout))


def profile_of(name: str) -> Profile:
    """The profile of a model: for the embedded one from its catalogue entry, for others by name."""
    if is_local(name):
        from goalwright.models.local import model

        return model.profile(name)
    return profile_by_name(name)
