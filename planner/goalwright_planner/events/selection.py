"""The known skills, and the selected ones."""

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
    """The skills that were found, and the listings of skills and tools that prompts contain.

    `functions` are the functions offered as tools, by the program or installed packages. `mcp` are the tools of MCP
    servers that the run may call. A resumed or replayed run is offered the recorded functions and tools, even if the
    installed packages or the servers have changed. `prompts` are MCP prompts, which are offered as skills. `task` is
    the sub-goal that the catalogue is for; None means the run.
    """

    skills: tuple[SkillPrint, ...]
    skill_listing: str
    tool_listing: str
    functions: tuple[ToolSpec, ...] = ()
    task: str | None = None
    mcp: tuple[ToolSpec, ...] = ()
    prompts: tuple[ToolSpec, ...] = ()


class SkillsSelected(Event, frozen=True):
    """The detector selected skills out of `available` skills, for the run or for the sub-goal `task`.

    `keywords` came from a model, for a goal in another language than the skills. `encoder` names the encoder that
    compared meanings. `unindexed` skills were compared by name and description only, as the index was being built.
    """

    detector: str
    selections: tuple[Selection, ...]
    available: int
    keywords: str = ""
    task: str | None = None
    encoder: str = ""
    unindexed: int = 0
