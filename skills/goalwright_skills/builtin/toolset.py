"""The table of built-in tools, and the tools that a run or a skill may use.

The set of tools is recorded with a run, so a resume offers the same tools even if a later version adds others. The
modules of the tools are imported when a task needs them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from goalwright_skills.text.formatting import guess

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from goalwright_skills.builtin.tool_context import ToolContext
    from goalwright_skills.tools.tool import Tool


KEY = "tools"
_WRITES = "workspace_writes"


class ToolClass(Protocol):
    """The class of a built-in tool."""

    def of(self, run: ToolContext) -> Tool:
        """Return the tool of one task."""


@dataclass(frozen=True, slots=True)
class BuiltinTool:
    """A built-in tool: its name, and the path of its class below this package.

    A tool with a `setting` is off by default; the setting enables it, and `short` is its name in the setting `tools`.
    `alias` is its name in `allowed-tools` of other agents; a tool that is `always` there cannot be removed by it.
    `gives` is the capability that skills may need (`goalwright_skills.discovery.needs`). Plans may only call tools that
    are `in_plans`.
    """

    name: str
    path: str
    setting: str = ""
    short: str = ""
    alias: str = ""
    gives: str = ""
    always: bool = False
    in_plans: bool = True

    def load(self) -> ToolClass:
        """Import the class."""
        module, _, name = self.path.partition(":")
        tool_class: ToolClass = getattr(import_module(f"goalwright_skills.builtin.{module}"), name)
        return tool_class


TOOLS = (
    BuiltinTool("Skill", "skill_tool:SkillTool", always=True, in_plans=False),
    BuiltinTool("ReadFile", "read_file:ReadFile", alias="read"),
    BuiltinTool("ListFiles", "search.list_files:ListFiles", alias="glob"),
    BuiltinTool("Grep", "search.grep:Grep"),
    BuiltinTool("WriteFile", "writing.write_file:WriteFile", alias="write"),
    BuiltinTool("EditFile", "writing.write_file:EditFile", alias="edit"),
    BuiltinTool("DeleteFile", "writing.remove_file:DeleteFile", setting=_WRITES),
    BuiltinTool("MoveFile", "writing.remove_file:MoveFile", setting=_WRITES),
    BuiltinTool("run_script", "code.run_script:RunScript", alias="bash", in_plans=False),
    BuiltinTool("python_run", "code.run_code:PythonRun", setting="tools", short="python"),
    BuiltinTool("shell_run", "code.run_code:ShellRun", "tools", "shell", alias="bash", gives="running commands"),
    BuiltinTool("WebFetch", "web.web_fetch:WebFetch", "allow_web", "web", gives="web access"),
    BuiltinTool("WebSearch", "web.web_search:WebSearch", "search", "search"),
)
# Tools that can only change files of the workspace.
WRITING = tuple(tool.name for tool in TOOLS if tool.setting == _WRITES)
STANDARD = tuple(tool.name for tool in TOOLS if not tool.setting)
# The settings that enable the other tools.
SETTINGS: Mapping[str, str] = {tool.name: tool.setting for tool in TOOLS if tool.setting}
_BY_NAME = {tool.name: tool for tool in TOOLS}


def make(name: str, run: ToolContext) -> Tool | None:
    """Return the named tool for one task; None if this version does not have it."""
    tool = _BY_NAME.get(name)
    return tool.load().of(run) if tool is not None else None


def tools_named(name: str) -> tuple[str, ...]:
    """Return the tools that a skill means by a name or alias, ignoring case."""
    by_name = tuple(tool.name for tool in TOOLS if tool.name.lower() == name.lower())
    return by_name or tuple(tool.name for tool in TOOLS if tool.alias and tool.alias == name.lower())


def capabilities(offered: Sequence[str]) -> frozenset[str]:
    """Return the capabilities that the offered tools give to tasks."""
    return frozenset(tool.gives for tool in TOOLS if tool.gives and tool.name in offered)


def expanded(names: Iterable[str]) -> tuple[str, ...]:
    """Return the standard tools and the named ones; raises ValueError for an unknown name."""
    by_name = {tool.name.lower(): tool.name for tool in TOOLS} | {tool.short: tool.name for tool in TOOLS if tool.short}
    chosen = []
    for name in names:
        tool = by_name.get(name.lower())
        if tool is None:
            nearest = guess(name, by_name)
            shorts = ", ".join(row.short for row in TOOLS if row.short)
            hint = f"did you mean {nearest!r}?" if nearest else f"tools are: {shorts}"
            raise ValueError(f"names an unknown tool, {name!r}; {hint}")
        chosen.append(tool)
    return tuple(dict.fromkeys((*STANDARD, *chosen)))


def checked_host(text: str) -> str:
    """Return a valid host that tasks may read; raises ValueError otherwise."""
    from goalwright_skills.builtin.web.hosts import AllowedHost  # most runs allow no hosts

    AllowedHost.of(text)
    return text


def recorded(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the set of tools in the recorded settings of a run."""
    names = settings.get(KEY)
    return tuple(name for name in names if isinstance(name, str)) if isinstance(names, list | tuple) else ()


def missing(offered: Sequence[str], allowed: Sequence[str]) -> tuple[str, ...]:
    """Return the optional tools of a run that the user does not allow now; tools that write have their own check."""
    return tuple(name for name in offered if name in SETTINGS and name not in (*allowed, *WRITING))


ALLOWED_TOOLS_KEY = "allowed-tools"
_ALWAYS = frozenset(tool.name for tool in TOOLS if tool.always)
_IN_PARENTHESES = re.compile(r"\([^)]*\)")


def narrowed(offered: Sequence[str], extra: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the offered tools that a skill's `allowed-tools` leaves to its task; it never adds tools."""
    names = _allowed_names(extra)
    if names is None:
        return tuple(offered)
    allowed = _ALWAYS.union(*(tools_named(name) for name in names))
    return tuple(name for name in offered if name in allowed)


def unknown(extra: Mapping[str, Any], others: Sequence[str] = ()) -> list[str]:
    """Return the names in `allowed-tools` that are neither built-in tools nor among `others`."""
    by_name = {name.lower() for name in others}
    return [name for name in _allowed_names(extra) or () if not tools_named(name) and name.lower() not in by_name]


def _allowed_names(extra: Mapping[str, Any]) -> list[str] | None:
    """Return the names in a text or list such as `Read, Bash(git:*)`; None if there are none."""
    value = extra.get(ALLOWED_TOOLS_KEY)
    texts = value if isinstance(value, list) else [value]
    if value is None or not all(isinstance(text, str) for text in texts):
        return None
    names = [name for text in texts for name in re.split(r"[\s,]+", _IN_PARENTHESES.sub("", str(text))) if name]
    return list(dict.fromkeys(names)) or None
