"""The built-in tools: a line for each, and which of them a run has.

The set is part of a run's settings and on its record: a run is offered the same tools for life, whatever later versions
add. The modules are imported when a task has tools.
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
WRITE = "--write"


class ToolClass(Protocol):
    """The class of a built-in tool."""

    def of(self, run: ToolContext) -> Tool:
        """The tool of one task."""


@dataclass(frozen=True, slots=True)
class BuiltinTool:
    """A built-in tool by its name, and where its class is, below this package.

    One that has a `switch`, the option with which a run has it, is off by default; `short` is its name in settings.
    `alias` is what skills call it in `allowed-tools`, as other agents have it; those cannot take away one that is
    `always` there. `gives` is what it lets tasks do, as `goalwright_skills.discovery.needs` has it. Unless it is `in_plans`,
    only a model can call it.
    """

    name: str
    path: str
    switch: str = ""
    short: str = ""
    alias: str = ""
    gives: str = ""
    always: bool = False
    in_plans: bool = True

    def load(self) -> ToolClass:
        """Its class."""
        module, _, name = self.path.partition(":")
        found: ToolClass = getattr(import_module(f"goalwright_skills.builtin.{module}"), name)
        return found


TOOLS = (
    BuiltinTool("Skill", "skill_tool:SkillTool", always=True, in_plans=False),
    BuiltinTool("ReadFile", "read_file:ReadFile", alias="read"),
    BuiltinTool("ListFiles", "search.list_files:ListFiles", alias="glob"),
    BuiltinTool("Grep", "search.grep:Grep"),
    BuiltinTool("WriteFile", "writing.write_file:WriteFile", alias="write"),
    BuiltinTool("EditFile", "writing.write_file:EditFile", alias="edit"),
    BuiltinTool("DeleteFile", "writing.remove_file:DeleteFile", switch=WRITE),
    BuiltinTool("MoveFile", "writing.remove_file:MoveFile", switch=WRITE),
    BuiltinTool("run_script", "code.run_script:RunScript", alias="bash", in_plans=False),
    BuiltinTool("python_run", "code.run_code:PythonRun", switch="--tools python", short="python"),
    BuiltinTool(
        "shell_run", "code.run_code:ShellRun", "--tools shell", "shell", alias="bash", gives="running commands"
    ),
    BuiltinTool("WebFetch", "web.web_fetch:WebFetch", "--allow-web HOST", "web", gives="web access"),
    BuiltinTool("WebSearch", "web.web_search:WebSearch", "[search] in your own config.toml", "search"),
)
# What changes files of the workspace and is of no use elsewhere.
WRITING = tuple(tool.name for tool in TOOLS if tool.switch == WRITE)
STANDARD = tuple(tool.name for tool in TOOLS if not tool.switch)
# The options with which a run has the others.
SWITCHES: Mapping[str, str] = {tool.name: tool.switch for tool in TOOLS if tool.switch}
_BY_NAME = {tool.name: tool for tool in TOOLS}


def make(name: str, run: ToolContext) -> Tool | None:
    """The tool of that name for one task; None if this version does not have it."""
    tool = _BY_NAME.get(name)
    return tool.load().of(run) if tool is not None else None


def called(name: str) -> tuple[str, ...]:
    """The tools that a skill means by a name, in any case: a tool's own or an alias."""
    own = tuple(tool.name for tool in TOOLS if tool.name.lower() == name.lower())
    return own or tuple(tool.name for tool in TOOLS if tool.alias and tool.alias == name.lower())


def capabilities(offered: Sequence[str]) -> frozenset[str]:
    """What the tools that a run offers let tasks do, as skills may need it."""
    return frozenset(tool.gives for tool in TOOLS if tool.gives and tool.name in offered)


def expanded(names: Iterable[str]) -> tuple[str, ...]:
    """The standard set with these tools; raises ValueError if one is unknown."""
    own = {tool.name.lower(): tool.name for tool in TOOLS} | {tool.short: tool.name for tool in TOOLS if tool.short}
    chosen = []
    for name in names:
        tool = own.get(name.lower())
        if tool is None:
            near = guess(name, own)
            shorts = ", ".join(row.short for row in TOOLS if row.short)
            hint = f"did you mean {near!r}?" if near else f"tools are: {shorts}"
            raise ValueError(f"names an unknown tool, {name!r}; {hint}")
        chosen.append(tool)
    return tuple(dict.fromkeys((*STANDARD, *chosen)))


def checked_host(text: str) -> str:
    """A host that tasks may read; raises ValueError if it is not one."""
    from goalwright_skills.builtin.web.hosts import AllowedHost  # few allow any

    AllowedHost.of(text)
    return text


def recorded(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The set that the recorded settings of a run name."""
    names = settings.get(KEY)
    return tuple(name for name in names if isinstance(name, str)) if isinstance(names, list | tuple) else ()


def missing(offered: Sequence[str], allowed: Sequence[str]) -> tuple[str, ...]:
    """The optional tools that a run is offered and the user does not allow now; those that write ask for themselves."""
    return tuple(name for name in offered if name in SWITCHES and name not in (*allowed, *WRITING))


ALLOWED_TOOLS_KEY = "allowed-tools"
_ALWAYS = frozenset(tool.name for tool in TOOLS if tool.always)
_DETAIL = re.compile(r"\([^)]*\)")


def narrowed(offered: Sequence[str], extra: Mapping[str, Any]) -> tuple[str, ...]:
    """The tools that a task of a skill has, of those that its run is offered."""
    names = _listed(extra)
    if names is None:
        return tuple(offered)
    allowed = _ALWAYS.union(*(called(name) for name in names))
    return tuple(name for name in offered if name in allowed)


def unknown(extra: Mapping[str, Any], others: Sequence[str] = ()) -> list[str]:
    """The names that stand for no tool: neither a built-in one nor one of `others`."""
    own = {name.lower() for name in others}
    return [name for name in _listed(extra) or () if not called(name) and name.lower() not in own]


def _listed(extra: Mapping[str, Any]) -> list[str] | None:
    """The names in a text or list such as `Read, Bash(git:*)`; None if there are none to go by."""
    value = extra.get(ALLOWED_TOOLS_KEY)
    texts = value if isinstance(value, list) else [value]
    if value is None or not all(isinstance(text, str) for text in texts):
        return None
    names = [name for text in texts for name in re.split(r"[\s,]+", _DETAIL.sub("", str(text))) if name]
    return list(dict.fromkeys(names)) or None
