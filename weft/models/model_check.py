"""Whether a model could be asked, as far as that is known without asking: its provider, and its key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skills.errors import WeftError
from weft.providers import litellm_model
from weft.providers.litellm_errors import NO_PROVIDER
from weft.settings.default_model import is_local

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class ModelProblem:
    """What stands in the way of asking a model; `certain` where it surely does."""

    what: str
    remedy: str
    certain: bool = True


def find_problem(name: str, load: Callable[[], Any] = litellm_model.load) -> ModelProblem | None:
    """What the model of that name lacks; None where a call may be tried. It loads litellm, which takes seconds."""
    if is_local(name):
        return _lack_of_local(name)
    litellm = load()
    try:
        litellm.get_llm_provider(name)
    except Exception:  # noqa: BLE001 - its own exceptions, which it would have to be imported for
        return ModelProblem(f"no provider is known for the model {name!r}", NO_PROVIDER)
    missing = litellm.validate_environment(name)["missing_keys"]
    keys = [variable for variable in missing if variable.endswith("_API_KEY")]
    if keys:
        return ModelProblem(
            f"there is no key for {name}", f"set {' or '.join(keys)}, or choose another model with --model"
        )
    # Others have defaults, or come from files of the provider's own: a region, an address, a profile.
    said = f"{name} may need {', '.join(missing)}"
    return ModelProblem(said, "set them where a call fails without", certain=False) if missing else None


def _lack_of_local(name: str) -> ModelProblem | None:
    from weft.local import catalogue, model

    try:
        model.installed(name)
    except WeftError as error:
        known = model.entry_name(name) in {entry.name for entry in catalogue.read().entries}
        return ModelProblem(
            error.message, error.hint, certain=not known
        )  # one that is known is fetched by the first run
    return None
