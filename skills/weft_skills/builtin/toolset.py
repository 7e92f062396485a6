"""Which built-in tools tasks have. The set is part of a run's settings and on its record.

Every request contains the tools that it offers, so a run is offered the same set for life, whatever later versions add.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from weft_skills.text.nearest import guess

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

WorkspaceWrites = Literal["deny", "ask", "allow"]

KEY = "tools"
STANDARD = ("Skill", "ReadFile", "ListFiles", "Grep", "WriteFile", "EditFile", "run_script")
# Off unless the user asks for them, by the short name or the tool's own.
OPTIONAL: Mapping[str, str] = {"python": "python_run", "shell": "shell_run", "web": "WebFetch"}
# The option with which a run has them.
SWITCHED = {"python_run": "--tools python", "shell_run": "--tools shell", "WebFetch": "--allow-web HOST"}


def expanded(names: Iterable[str]) -> tuple[str, ...]:
    """The standard set with these tools; raises ValueError if one is unknown."""
    own = {tool.lower(): tool for tool in (*STANDARD, *OPTIONAL.values())} | dict(OPTIONAL)
    chosen = []
    for name in names:
        found = own.get(name.lower())
        if found is None:
            near = guess(name, own)
            hint = f"did you mean {near!r}?" if near else f"there are: {', '.join(OPTIONAL) or 'none'}"
            raise ValueError(f"names an unknown tool, {name!r}; {hint}")
        chosen.append(found)
    return tuple(dict.fromkeys((*STANDARD, *chosen)))


def checked_host(text: str) -> str:
    """A host that tasks may read; raises ValueError if it is none."""
    from weft_skills.builtin.web.hosts import AllowedHost  # few allow any

    AllowedHost.of(text)
    return text


def recorded(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The set that the recorded settings of a run name."""
    names = settings.get(KEY)
    return tuple(name for name in names if isinstance(name, str)) if isinstance(names, list | tuple) else ()


def missing(offered: Sequence[str], allowed: Sequence[str]) -> tuple[str, ...]:
    """The optional tools that a run is offered and the user does not allow now."""
    return tuple(name for name in offered if name in OPTIONAL.values() and name not in allowed)
