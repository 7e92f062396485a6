"""A skill's metadata, and the problems found in its file."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from goalwright_skills.text.formatting import spelled

if TYPE_CHECKING:
    from collections.abc import Mapping

Source = Literal["system", "workspace", "project", "root", "global", "bundled"]
Kind = Literal["context", "executable"]
State = Literal["active", "shadowed", "disabled", "broken"]

# The frontmatter keys of other agents that control who may choose a skill.
MANUAL_KEY = "disable-model-invocation"
INVOCABLE_KEY = "user-invocable"
# Starts the names of MCP servers' prompts among skills; the name of a skill file has no colon.
PROMPT_PREFIX = "mcp:"
_SWITCHES = dict.fromkeys(("true", "yes", "on", "1"), True) | dict.fromkeys(("false", "no", "off", "0"), False)

# The problems for which the setting `strict_skills` ignores a skill.
NAME_RULES = frozenset({"name-form", "name-folder"})
IGNORED = "it is ignored, since names are checked strictly"

LENGTH = 64
FORM = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_OTHER = re.compile(r"[^a-z0-9]+")


def is_prompt(name: str) -> bool:
    """Whether the skill of this name is a prompt of an MCP server."""
    return name.startswith(PROMPT_PREFIX)


def switch(value: object) -> bool | None:
    """Parse a boolean in any spelling of YAML; None for anything else."""
    return _SWITCHES.get(str(value).strip().lower())


def fits(name: str) -> bool:
    """Whether a name is a valid skill name."""
    return len(name) <= LENGTH and FORM.fullmatch(name) is not None


def slug(name: str) -> str:
    """Convert a name to lower case, with `-` for other characters, and cut it at 64 characters; may be empty."""
    return _OTHER.sub("-", name.lower()).strip("-")[:LENGTH].rstrip("-")


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem in a skill's file: its place, a description, and the remedy.

    `rule` is the kind of problem, `tool` the affected tool in the file, `until` the consequence until it is fixed.
    """

    path: Path
    line: int
    what: str
    remedy: str
    rule: str = ""
    tool: str = ""
    until: str = ""

    @property
    def message(self) -> str:
        """The description, the remedy, and the consequence until it is fixed."""
        return "; ".join(filter(None, (self.what, self.remedy, self.until)))

    @property
    def reason(self) -> str:
        """The message with its line, as the `reason` of a listed skill, whose path is shown beside it."""
        return f"line {self.line}: {self.message}"

    def __str__(self) -> str:
        return f"{spelled(self.path)}:{self.line}: {self.message}"


@dataclass(frozen=True, slots=True)
class Skill:
    """The metadata of a skill; the body stays on disk until a task needs it.

    `extra` holds all other keys of the frontmatter; `stamp` is the file's stamp when it was read. `file` is a string,
    since creating thousands of `Path` objects would dominate the startup time.
    """

    name: str
    description: str
    file: str
    source: Source
    kind: Kind = "context"
    state: State = "active"
    reason: str | None = None
    model: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    stamp: int = field(default=0, compare=False, repr=False)

    @property
    def path(self) -> Path:
        """The file that declares it."""
        return Path(self.file)

    @property
    def base_dir(self) -> Path:
        """Its folder."""
        return Path(self.file).parent

    @property
    def is_manual(self) -> bool:
        """Whether only people may choose it, by name."""
        return MANUAL_KEY in self.extra and switch(self.extra[MANUAL_KEY]) is True

    @property
    def user_invocable(self) -> bool:
        """Whether people may call it by name."""
        return INVOCABLE_KEY not in self.extra or switch(self.extra[INVOCABLE_KEY]) is not False

    def to_dict(self) -> dict[str, Any]:
        """Return the skill as JSON."""
        return {
            "name": self.name,
            "description": self.description,
            "path": self.file,
            "base_dir": os.path.dirname(self.file),  # noqa: PTH120  there may be thousands
            "source": self.source,
            "kind": self.kind,
            "state": self.state,
            "reason": self.reason,
        }
