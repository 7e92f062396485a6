"""An executable tool as declared in a `skill.yaml`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from goalwright_skills.format.yaml_lines import Spot
from goalwright_skills.tools.parameter import Parameter, schema

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

Runtime = Literal["python", "node", "go", "binary"]
RUNTIMES: tuple[str, ...] = get_args(Runtime)
FILE = "skill.yaml"
TIMEOUT = 30.0


@dataclass(frozen=True, slots=True)
class Docs:
    """When to use a tool and when not to, for models and people, and the arguments of example calls."""

    when_to_use: tuple[str, ...] = ()
    when_not_to_use: tuple[str, ...] = ()
    examples: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Manifest:
    """One executable tool; `spot` has the line of each key."""

    name: str
    description: str
    runtime: Runtime
    entry: str
    folder: Path
    parameters: tuple[Parameter, ...] = ()
    timeout: float = TIMEOUT
    env: tuple[str, ...] = ()
    network: bool = False
    writes: bool = False
    docs: Docs = field(default_factory=Docs)
    spot: Spot = field(default_factory=Spot, compare=False, repr=False)

    @property
    def line(self) -> int:
        """The line of the tool's name."""
        return self.spot.line("name")

    @property
    def path(self) -> Path:
        """The file that declares it."""
        return self.folder / FILE

    @property
    def entry_path(self) -> Path:
        """The program's file."""
        return self.folder / self.entry

    @property
    def schema(self) -> dict[str, Any]:
        """Return the parameters as a JSON schema of type object."""
        return schema(self.parameters)


def domain(folder: Path) -> str:
    """Return the prefix that the names of a folder's tools have."""
    return folder.name.replace("-", "_")
