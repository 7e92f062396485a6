"""Models by names that tasks may choose, such as `fast` and `strong`: the keys of `[models]` that are not roles."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from goalwright_skills.text.nearest import guess

if TYPE_CHECKING:
    from collections.abc import Sequence

# In the table [models] `detector` is the detector's model; outside it, the name of a detector.
_ROLES = {role: role for role in ("decomposer", "task", "synthesis", "checker", "judge")} | {
    "detector": "detector_model"
}
_NAME = re.compile(r"[\w-]{1,64}")


def settings_in(table: Mapping[str, Any], known: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """The settings in a table [models]: those of roles, and `models` with all other names."""
    names: dict[str, Any] = {}
    for key, value in table.items():
        if key in _ROLES:
            yield _ROLES[key], value
        elif key in known or guess(key, _ROLES, cutoff=0.8):  # a misspelt role is an unknown setting
            yield key, value
        else:
            names[key] = value
    if names:
        yield "models", names


def read(raw: Any) -> dict[str, str]:
    """The names and models in a table, or in a text such as `fast=openai/gpt-4o-mini,strong=openai/o3`."""
    if isinstance(raw, str):
        raw = dict(_pair(part) for part in raw.split(",") if part.strip())
    if not isinstance(raw, Mapping):
        raise ValueError(f"must be a table of names and models, not {raw!r}")  # noqa: TRY004 - as for other values
    for name, model in raw.items():
        if not (isinstance(name, str) and _NAME.fullmatch(name)):
            raise ValueError(f"has the name {name!r}; use letters, digits, '_' and '-', 64 at most")
        if not (isinstance(model, str) and model.strip()):
            raise ValueError(f"must give {name!r} the name of a model, not {model!r}")
    return dict(raw)


def _pair(text: str) -> tuple[str, str]:
    name, equals, model = text.partition("=")
    if not equals:
        raise ValueError(f"must be NAME=MODEL, separated by commas, not {text.strip()!r}")
    return name.strip(), model.strip()
