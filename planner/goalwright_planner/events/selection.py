"""Which skills there are, and which were selected."""

from __future__ import annotations

import msgspec

from goalwright_planner.events.event import Event
from goalwright_planner.model import ToolSpec
from goalwright_skills.selection.detector import Selection


class SkillPrint(msgspec.Struct, frozen=True):
    """A skill's fingerprint: the hashes of its description and its file; `body` is empty if the file was not read."""

    name: str
    description: str
    body: str = ""


class CatalogueTaken(Event, frozen=True):
    """The skills found, and the listings of skills and tools that prompts contain.

    `functions` are those offered as tools, the program's own and those of installed packages: another process may not
    have them. `mcp` are the tools of MCP servers that the run may call. A resumed or replayed run is offered both,
    whatever is installed and the servers say by then. `prompts` are those of MCP servers, which are offered as skills.
    `task` is the sub-goal that they are for; without one they are
    for the run.
    """

    skills: tuple[SkillPrint, ...]
    skill_listing: str
    tool_listing: str
    functions: tuple[ToolSpec, ...] = ()
    task: str | None = None
    mcp: tuple[ToolSpec, ...] = ()
    prompts: tuple[ToolSpec, ...] = ()


class SkillsSelected(Event, frozen=True):
    """The detector selected skills, out of `available`, for the run or for a sub-goal, `task`.

    `keywords` are those that a model gave for a goal in another language than the skills, `encoder` is the one that
    compared meanings. `unindexed` skills were looked at by name and description alone: the index was being made.
    """

    detector: str
    selections: tuple[Selection, ...]
    available: int
    keywords: str = ""
    task: str | None = None
    encoder: str = ""
    unindexed: int = 0
