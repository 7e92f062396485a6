"""Environment variables that look like settings but are not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_skills.text.nearest import guess

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

PREFIX = "GOALWRIGHT_"
# What goalwright reads, or gives to a tool, that is not a setting.
_OTHERS = frozenset(
    f"{PREFIX}{name}"
    for name in ("ARTIFACTS", "COMPLETE", "MODELS_DIR", "SCRATCH", "TOOL", "TOOL_SECRETS", "WORKSPACE")
)
_CLOSE = 0.85


def misspelt(env: Mapping[str, str], settings: Sequence[str]) -> Iterator[str]:
    """A warning for each variable whose name is close to that of a setting."""
    known = [f"{PREFIX}{name.upper()}" for name in settings]
    for name in sorted(env):
        if not name.startswith(PREFIX) or name in _OTHERS or name in known:
            continue
        if near := guess(name, known, cutoff=_CLOSE):
            yield f"{name} is ignored: it is not a setting; did you mean {near}?"
