"""The tools of a workspace: programs with a skill.yaml, functions of installed packages, and MCP servers."""

from __future__ import annotations

import getpass
import os
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalwright.workspace.run_capabilities import capabilities
from goalwright_planner.model import ToolSpec
from goalwright_skills import confinement
from goalwright_skills.errors import InputError
from goalwright_skills.functions import functions, installed
from goalwright_skills.preferences import Preferences
from goalwright_skills.programs import manifest_file
from goalwright_skills.programs.build_cache import BuildCache
from goalwright_skills.programs.executable import ExecutableTool, ToolHost
from goalwright_skills.programs.tool_names import NAME, RESERVED
from goalwright_skills.programs.trust import OWN, Trust
from goalwright_skills.tools.call_log import no_log
from goalwright_skills.tools.disk_use import DiskLimits
from goalwright_skills.tools.recorded import RecordedTool

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from goalwright.settings.paths import Paths
    from goalwright_skills.confinement import Confinement
    from goalwright_skills.discovery.registry import Registry
    from goalwright_skills.functions.functions import FunctionTool
    from goalwright_skills.mcp.prompt import McpPrompt
    from goalwright_skills.mcp.server_state import ToolOffer
    from goalwright_skills.mcp.servers import McpServers
    from goalwright_skills.programs.manifest import Manifest
    from goalwright_skills.skill import Skill
    from goalwright_skills.tools.call_log import CallLog
    from goalwright_skills.tools.tool import Tool

Log = Callable[["CallLog"], None]
# A function of the program, or what a record says of one.
OwnTool = Callable[..., Any] | RecordedTool


class WorkspaceTools:
    """Which tools there are, which ones the user trusts, and how they are confined."""

    def __init__(
        self,
        paths: Paths,
        registry: Registry,
        *,
        unsafe: bool = False,
        disk: DiskLimits | None = None,
        own: Sequence[OwnTool] = (),
        installed: bool = True,
        preferences: Preferences | None = None,
    ) -> None:
        self._paths, self._installed = paths, installed
        self._preferences = preferences or Preferences()
        self._registry = registry
        self._unsafe = unsafe
        self.disk = disk or DiskLimits()
        every = _own_tools(own, paths.workspace)
        self._own_off = {tool.name: why for tool in every if (why := self._why_off(tool))}
        self._own = [tool for tool in every if tool.name not in self._own_off]
        self.trust = Trust(paths.trust, paths.sent_trust)
        self._opened_mcp: McpServers | None = None

    def _why_off(self, tool: FunctionTool | RecordedTool) -> str:
        """What switches off a function that was passed; what a run began with stays offered to it."""
        if isinstance(tool, RecordedTool):
            return ""
        return installed.switched_off(tool.name, os.environ, self._preferences)

    @cached_property
    def confinement(self) -> Confinement:
        """How tools are confined on this machine; one for the process, since it keeps what it sets up."""
        return confinement.choose(unsafe=self._unsafe)

    def programs(self) -> list[tuple[Skill, Manifest]]:
        """The active programs, each with its current manifest."""
        rows = [skill for skill in self._registry.list_skills() if skill.kind == "executable"]
        manifests = {folder: manifest_file.read(folder)[0] for folder in {row.base_dir for row in rows}}
        return [(row, manifest) for row in rows for manifest in manifests[row.base_dir] if manifest.name == row.name]

    def untrusted(self) -> list[Skill]:
        """The workspace's programs that the user has not trusted."""
        return [row for row, _ in self.programs() if not self.trust.is_trusted(row.base_dir, row.source)]

    def trusts(self, skill: Skill) -> bool:
        """Whether the user trusts what a skill's folder has to run, as it is now."""
        return self.trust.is_trusted(skill.base_dir, skill.source)

    def scripted(self) -> list[Skill]:
        """The workspace's skills that bring scripts."""
        return [row for row in self._registry.list_skills() if row.kind == "context" and self.has_scripts(row)]

    def has_scripts(self, skill: Skill) -> bool:
        """Whether a skill of the workspace brings scripts, which run only once the user trusts its folder."""
        folder = skill.base_dir
        return skill.source not in OWN and (folder / "scripts").is_dir() and not self.is_root(folder)

    def trust_all(self, folders: Iterable[Path] = ()) -> None:
        """Trust the workspace's tools, scripts and settings as they are now, and the tools in these folders."""
        rows = [*self.untrusted(), *self.scripted()]
        for folder in {*(row.base_dir for row in rows), *folders}:
            self.trust.trust(folder)
        self.trust.trust_workspace(self._paths.workspace)

    @cached_property
    def functions(self) -> tuple[list[FunctionTool], list[str]]:
        """The tools of installed packages, and notes about them; read once."""
        return functions.discover(self._paths.workspace, os.environ, self._preferences) if self._installed else ([], [])

    @property
    def has_mcp(self) -> bool:
        """Whether any MCP server is configured, for the workspace or by the user."""
        return self._paths.has_mcp

    @property
    def mcp(self) -> McpServers:
        """The MCP servers; asking for them starts none."""
        if self._opened_mcp is None:
            from goalwright_skills.mcp.servers import McpServers  # few runs have any

            paths = self._paths
            self._opened_mcp = McpServers(
                paths.workspace,
                paths.user_mcp,
                paths.cache / "mcp",
                self.trust,
                dict(os.environ),
                lambda: self.confinement,
                paths.logins,
                paths.session_mcp,
            )
        return self._opened_mcp

    def mcp_offer(self, *, start: bool = True) -> ToolOffer:
        """What MCP servers offer without what the user switched off; with `start`, as for a planner."""
        offer, preferences = self.mcp.offer(start=start), self._preferences
        if not preferences.mcp_off:
            return offer
        tools = tuple(tool for tool in offer.tools if not preferences.switches_off(tool.name))
        prompts = tuple(prompt for prompt in offer.prompts if not preferences.switches_off(prompt.skill_name))
        return replace(offer, tools=tools, prompts=prompts, warnings=(*offer.warnings, *self._unknown_off(offer)))

    def _unknown_off(self, offer: ToolOffer) -> Iterator[str]:
        """A warning for each name that switches off nothing of what MCP servers offer."""
        names = [*(tool.name for tool in offer.tools), *(prompt.skill_name for prompt in offer.prompts)]
        for off in self._preferences.mcp_off:
            if not any(name == off or name.startswith(f"{off}__") for name in names):
                yield f"{off[:80]!r} is to be off, and no MCP server that is used here offers it"

    def close(self) -> None:
        """End what was started for the tools."""
        if self._opened_mcp is not None:
            self._opened_mcp.pool.close()

    def mcp_tools(self, specs: Sequence[ToolSpec] | None, artifacts: Path | None = None) -> dict[str, Tool]:
        """The tools of MCP servers that a run has on record, or else all that can be called now without asking."""
        if specs is None:
            offered = self.mcp_offer(start=False).tools if self.has_mcp else ()
            specs = [ToolSpec(tool.name, tool.description, tool.offered_parameters) for tool in offered]
        if not specs:
            return {}
        from goalwright_skills.mcp.tool import McpTool

        return {
            spec.name: McpTool(spec.name, spec.description, spec.parameters, self.mcp, artifacts, self.disk)
            for spec in specs
        }

    def server_prompts(self, specs: Sequence[ToolSpec], artifacts: Path | None = None) -> dict[str, McpPrompt]:
        """The prompts of MCP servers that a run has on record, as skills by name."""
        if not specs:
            return {}
        from goalwright_skills.mcp.prompt import McpPrompt

        rows = ((spec.name, spec.description, spec.parameters) for spec in specs)
        return {row[0]: McpPrompt(*row, self.mcp, artifacts, self.disk) for row in rows}

    @property
    def function_specs(self) -> tuple[ToolSpec, ...]:
        """The functions of installed packages and the program's own, as a model is offered them."""
        own = {tool.name: tool for tool in self._own}
        programs = {row.name for row, _ in self.programs()}.difference(own)
        by_name = {tool.name: tool for tool in self.functions[0] if tool.name not in programs} | own
        return tuple(ToolSpec(tool.name, tool.description, tool.parameters) for tool in by_name.values())

    @property
    def function_names(self) -> set[str]:
        """The names of these functions, and of those of installed packages that a program shadows."""
        return {tool.name for tool in (*self.functions[0], *self._own)}

    def shadowed_programs(self) -> Iterator[str]:
        """A warning for each program of the workspace that has the name of one of the program's own functions."""
        own = {tool.name for tool in self._own if not isinstance(tool, RecordedTool)}
        for row, _ in self.programs() if own else ():
            if row.name in own:
                why = "a function that was passed as a tool has its name"
                yield f"the tool {row.name} of {row.path} is not used: {why}"

    def notes(self) -> list[str]:
        """A line for each tool: registered from where, or why not."""
        lines = [f"{row.name}: registered from {row.path}" for row, _ in self.programs()]
        return [*lines, *self.functions[1]]

    def by_name(
        self,
        artifacts: Path | None = None,
        *,
        log: Log | None = None,
        progress: Callable[[str], object] | None = None,
        mcp: Sequence[ToolSpec] | None = None,
    ) -> dict[str, Tool]:
        """Every tool by name, bound to this workspace and a run's artifacts.

        A program shadows a function of an installed package, and never one that was passed: that is the caller's code,
        and the program may be a stranger's. `mcp` are the tools of MCP servers that a run has; their names cannot be
        those of other tools.
        """
        programs = self.programs()
        functions = (*self.functions[0], *self._own)
        by_name: dict[str, Tool] = {
            tool.name: tool
            if isinstance(tool, RecordedTool)
            else replace(tool, artifacts=artifacts, disk=self.disk, log=log or no_log)
            for tool in functions
        }
        by_name |= self.mcp_tools(mcp, artifacts)
        if not programs:
            return by_name
        sources: Mapping[Path, Skill] = {row.base_dir: row for row, _ in programs}
        host = self._host(lambda folder: self.trust.is_trusted(folder, sources[folder].source), log, progress)
        host = replace(host, artifacts=artifacts)
        own = {tool.name for tool in self._own}
        tools = (ExecutableTool(manifest, host) for _, manifest in programs if manifest.name not in own)
        by_name.update({tool.name: tool for tool in tools})
        return by_name

    def host(self, artifacts: Path, log: Log | None = None) -> ToolHost:
        """Where a run's own code and the scripts of its skills run."""
        return replace(self._host(lambda _: False, log), artifacts=artifacts)

    def capabilities(self, tools: Mapping[str, Tool]) -> frozenset[str]:
        """What tasks can do with these tools."""
        programs = [tool.manifest for tool in tools.values() if isinstance(tool, ExecutableTool)]
        return capabilities(programs, [tool for tool in tools.values() if not isinstance(tool, ExecutableTool)])

    def reason(self, name: str) -> str:
        """Why a declared tool cannot be called; empty if none has this name."""
        rows = [row for row in self._registry.list_skills(all=True) if row.kind == "executable" and row.name == name]
        return next((f"is {row.state}: {row.reason}" for row in rows if row.state != "active"), self._absent(name))

    @cached_property
    def absent(self) -> dict[str, str]:
        """Why tools of installed packages cannot be called, by name: such as an extra that is not installed."""
        rows = installed.rows(os.environ, self._preferences)
        return {row.name: row.reason or "" for row in rows if row.state != "active"} | self._own_off

    def _absent(self, name: str) -> str:
        reason = self.absent.get(name)
        return f"cannot be used: {reason}" if reason else ""

    def own_folders(self) -> list[Path]:
        """The folders of the workspace's own skills and tools, broken and shadowed ones included."""
        rows = self._registry.list_skills(all=True)
        return list(dict.fromkeys(row.base_dir for row in rows if row.source not in OWN))

    def is_root(self, folder: Path) -> bool:
        """Whether a folder is the workspace itself, whose skill has no folder name to match."""
        return folder.resolve() == self._paths.workspace.resolve()

    def trial_host(self, folder: Path, artifacts: Path, progress: Callable[[str], object] | None = None) -> ToolHost:
        """A host to try an author's tool in if it is trusted; `progress` hears of what is built for it."""
        sources = {row.base_dir.resolve(): row.source for row, _ in self.programs()}
        trusted = self.trust.is_trusted(folder, sources.get(folder.resolve(), "project"))
        host = self._host(lambda _: trusted, progress=progress)
        return replace(host, artifacts=artifacts)

    def _host(
        self, trusted: Callable[[Path], bool], log: Log | None = None, progress: Callable[[str], object] | None = None
    ) -> ToolHost:
        host = ToolHost(
            workspace=self._paths.workspace,
            scratch=Path(tempfile.gettempdir()) / f"goalwright-{getpass.getuser()}",
            confinement=self.confinement,
            build_cache=BuildCache(
                self._paths.cache / "tools", dict(os.environ), progress or _silent, self.confinement
            ),
            trusted=trusted,
            disk=self.disk,
        )
        return replace(host, log=log) if log else host


def _own_tools(functions: Sequence[OwnTool], workspace: Path) -> list[FunctionTool | RecordedTool]:
    """The functions that the program passed as tools; raises InputError if one cannot be, or two have one name."""
    tools = [_own_tool(function, workspace) for function in functions]
    for name, count in Counter(tool.name for tool in tools).items():
        if count > 1:
            raise InputError(f"{count} of the tools are called {name}", hint="rename the functions")
    return tools


def tool_name(function: OwnTool) -> str:
    """What a function of the program is called as a tool."""
    return function.name if isinstance(function, RecordedTool) else str(getattr(function, "__name__", ""))


def _own_tool(function: OwnTool, workspace: Path) -> FunctionTool | RecordedTool:
    """A function that the program passed as a tool; raises InputError if a model could not call it."""
    if isinstance(function, RecordedTool):
        return function
    name = tool_name(function)
    if not NAME.fullmatch(name):
        what = f"the name of the tool {name or function!r} is not of the form <domain>_<action>"
        raise InputError(what, hint="name the function, for example, orders_find")
    if name in RESERVED:
        raise InputError(f"the tool {name!r} has the name of a built-in one", hint="rename the function")
    try:
        return functions.tool(function, name, workspace)
    except (TypeError, NameError) as error:
        raise InputError(f"the tool {error}", hint="give every parameter a type such as str, int or list") from error


def _silent(_: str) -> None:
    """Report no builds."""
