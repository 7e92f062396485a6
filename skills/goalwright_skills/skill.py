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

# What other agents' authors write in the frontmatter to say who may choose a skill.
MANUAL_KEY = "disable-model-invocation"
INVOCABLE_KEY = "user-invocable"
# Begins the names of MCP servers' prompts among skills; a skill of a file has no colon in its name.
PROMPT_PREFIX = "mcp:"
_SWITCHES = dict.fromkeys(("true", "yes", "on", "1"), True) | dict.fromkeys(("false", "no", "off", "0"), False)

# The problems for which `--strict-skills` ignores a skill.
NAME_RULES = frozenset({"name-form", "name-folder"})
IGNORED = "it is ignored, since names are checked strictly"

LENGTH = 64
FORM = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_OTHER = re.compile(r"[^a-z0-9]+")


def is_prompt(name: str) -> bool:
    """Whether the skill of this name is a prompt of an MCP server."""
    return name.startswith(PROMPT_PREFIX)


def switch(value: object) -> bool | None:
    """What a value of these keys says, in any of the ways that YAML has for it; None if it says neither."""
    return _SWITCHES.get(str(value).strip().lower())


def fits(name: str) -> bool:
    """Whether a name has the form that the specification requires."""
    return len(name) <= LENGTH and FORM.fullmatch(name) is not None


def slug(name: str) -> str:
    """A name in the allowed form: lower case, runs of other characters become `-`, at most 64 long; may be empty."""
    return _OTHER.sub("-", name.lower()).strip("-")[:LENGTH].rstrip("-")


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem in a skill's file: where it is, what is wrong, and how to fix it.

    `rule` is the kind of problem, `tool` the tool in the file that has it, `until` what applies until it is fixed.
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
        """What is wrong, how to fix it, and what applies until then."""
        return "; ".join(filter(None, (self.what, self.remedy, self.until)))

    @property
    def reason(self) -> str:
        """The message with its line, as the `reason` of a listed skill, whose path is shown beside it."""
        return f"line {self.line}: {self.message}"

    def __str__(self) -> str:
        return f"{spelled(self.path)}:{self.line}: {self.message}"


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill as discovery sees it: metadata only; the body stays on disk until a task needs it.

    `extra` holds every other key of the frontmatter; `stamp` is the file's stat when it was read. `file` is the path
    as text, since creating thousands of `Path` objects would take longer than the rest of a start.
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
        """Whether its author lets only people choose it, by name."""
        return MANUAL_KEY in self.extra and switch(self.extra[MANUAL_KEY]) is True

    @property
    def user_invocable(self) -> bool:
        """Whether its author lets people call it by name."""
        return INVOCABLE_KEY not in self.extra or switch(self.extra[INVOCABLE_KEY]) is not False

    def to_dict(self) -> dict[str, Any]:
        """The skill as `skills list --json` prints it."""
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
