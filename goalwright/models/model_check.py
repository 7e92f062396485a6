"""Checks whether a model can be called, without calling it: its provider and its key, or its local file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goalwright.models.litellm import keys, lifecycle
from goalwright.models.litellm.errors import NO_PROVIDER, says_no_provider
from goalwright.settings.default_model import is_local
from goalwright_planner.errors import KeyRefused, UnknownModel
from goalwright_skills.errors import GoalwrightError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


@dataclass(frozen=True, slots=True)
class ModelProblem:
    """Why calls to a model fail, or if not `certain`, may fail."""

    what: str
    remedy: str
    certain: bool = True


def find_problem(name: str, load: Callable[[], Any] = lifecycle.load) -> ModelProblem | None:
    """Return why a model cannot be called, or None; imports litellm, which takes seconds."""
    if is_local(name):
        return _find_local_problem(name)
    litellm = load()
    try:
        litellm.get_llm_provider(name)
    except Exception as error:  # noqa: BLE001 - naming litellm's exceptions would import it
        if says_no_provider(str(error)):
            return ModelProblem(f"no provider is known for the model {name!r}", NO_PROVIDER)
        # litellm imports some of its modules at first use, which can fail while another thread imports them, too.
        return ModelProblem(f"{name} cannot be checked: {error}", "the first call will show it", certain=False)
    missing = litellm.validate_environment(name)["missing_keys"]
    missing_keys = [variable for variable in missing if variable.endswith("_API_KEY")]
    if missing_keys:
        remedy = f"set {' or '.join(missing_keys)}, or choose another model"
        return ModelProblem(f"there is no key for {name}", remedy)
    if not missing:
        return None
    # The other variables, such as a region or a profile, have defaults or come from the provider's own files.
    return ModelProblem(f"{name} may need {', '.join(missing)}", "set them if calls fail", certain=False)


def check_names(names: Iterable[str], env: Mapping[str, str]) -> None:
    """Raise if a model's key is missing or its provider is misspelt; does not import litellm."""
    for name in names:
        if is_local(name):
            continue
        if provider := keys.mistyped(name):
            model = name.partition("/")[2]
            raise UnknownModel(f"no provider is known for the model {name!r}", hint=f"did you mean {provider}/{model}?")
        if missing := keys.missing_key(name, env):
            provider = name.partition("/")[0]
            raise KeyRefused(
                f"there is no key for {name}",
                hint=f"set {' or '.join(missing)}, or store it with `goalwright keys set {provider}`, or choose "
                "another model",
            )


def _find_local_problem(name: str) -> ModelProblem | None:
    from goalwright.models.local import catalogue, model

    try:
        model.installed(name)
    except GoalwrightError as error:
        # The first run downloads a model that the catalogue has.
        downloadable = model.entry_name(name) in {entry.name for entry in catalogue.read().entries}
        return ModelProblem(error.message, error.hint, certain=not downloadable)
    return None
