"""The values of this package: a skill's metadata, and what is wrong with a file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Source = Literal["system", "workspace", "project", "root", "global", "bundled"]
Kind = Literal["context", "executable"]
State = Literal["active", "shadowed", "disabled", "broken"]

# The faults for which `--strict-skills` drops a skill.
NAME_RULES = frozenset({"name-form", "name-folder"})
LEFT_OUT = "it is left out, for names are taken strictly"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a skill's file: where, what, and how to mend it.

    `rule` names its kind, `tool` the one of the file's tools that it is about; `until` is what holds until then.
    """

    path: Path
    line: int
    what: str
    remedy: str
    rule: str = ""
    tool: str = ""
    until: str = ""

    @property
    def told(self) -> str:
        """What, how to mend it, and what holds until then."""
        return "; ".join(filter(None, (self.what, self.remedy, self.until)))

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.told}"


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill as discovery sees it: metadata only, the body stays on disk until a task needs it.

    `extra` holds every other key of the frontmatter; `stamp` is what the file's stat said when it was read. `file`
    is the path as text, for making thousands of paths takes longer than all else on a start.
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
        """The file that makes it."""
        return Path(self.file)

    @property
    def base_dir(self) -> Path:
        """Its folder."""
        return Path(self.file).parent
