"""Check whether a model can be called, without calling it: its provider and its key, or its local file."""

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
    """Why a call to a model would fail, or if not `certain`, might fail."""

    what: str
    remedy: str
    certain: bool = True


def find_problem(name: str, load: Callable[[], Any] = lifecycle.load) -> ModelProblem | None:
    """Find out why a model cannot be called; None if it can. Imports litellm, which takes seconds."""
    if is_local(name):
        return _find_local_problem(name)
    litellm = load()
    try:
        litellm.get_llm_provider(name)
    except Exception as error:  # noqa: BLE001 - naming litellm's exceptions would import it
        if says_no_provider(str(error)):
            return ModelProblem(f"no provider is known for the model {name!r}", NO_PROVIDER)
        # litellm imports parts of itself when they are first used; while another thread does so too, that can fail.
        return ModelProblem(f"{name} cannot be checked: {error}", "the first call tells", certain=False)
    missing = litellm.validate_environment(name)["missing_keys"]
    wanted = [variable for variable in missing if variable.endswith("_API_KEY")]
    if wanted:
        remedy = f"set {' or '.join(wanted)}, or choose another model with --model"
        return ModelProblem(f"there is no key for {name}", remedy)
    if not missing:
        return None
    # The others, such as a region, an address or a profile, have defaults or come from the provider's own files.
    return ModelProblem(f"{name} may need {', '.join(missing)}", "set them if calls fail", certain=False)


def check_names(names: Iterable[str], env: Mapping[str, str]) -> None:
    """Raise before a run is opened if a model's key is missing or its provider is mistyped; loads nothing."""
    for name in names:
        if is_local(name):
            continue
        if meant := keys.mistyped(name):
            rest = name.partition("/")[2]
            raise UnknownModel(f"no provider is known for the model {name!r}", hint=f"did you mean {meant}/{rest}?")
        if missing := keys.missing_key(name, env):
            raise KeyRefused(
                f"there is no key for {name}",
                hint=f"set {' or '.join(missing)}, or keep it with `goalwright keys set {name.partition('/')[0]}`, or choose "
                "another model with --model",
            )


def _find_local_problem(name: str) -> ModelProblem | None:
    from goalwright.models.local import catalogue, model

    try:
        model.installed(name)
    except GoalwrightError as error:
        # The first run downloads a model that the catalogue knows.
        downloadable = model.entry_name(name) in {entry.name for entry in catalogue.read().entries}
        return ModelProblem(error.message, error.hint, certain=not downloadable)
    return None
