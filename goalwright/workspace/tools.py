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
from goalwright_skills.programs.trust import OWN, Trust
from goalwright_skills.tools.disk_use import DiskLimits
from goalwright_skills.tools.envelope import no_log
from goalwright_skills.tools.tool import NAME, RESERVED, RecordedTool

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from goalwright.settings.paths import Paths
    from goalwright_skills.confinement import Confinement
    from goalwright_skills.discovery.registry import Registry
    from goalwright_skills.functions.functions import FunctionTool
    from goalwright_skills.mcp.server_state import ToolOffer
    from goalwright_skills.mcp.servers import McpServers
    from goalwright_skills.mcp.tools import McpPrompt
    from goalwright_skills.programs.manifest import Manifest
    from goalwright_skills.skill import Skill
    from goalwright_skills.tools.envelope import CallLog, Envelope
    from goalwright_skills.tools.tool import Tool

Log = Callable[["CallLog"], None]
# A function of the program, or its record.
OwnTool = Callable[..., Any] | RecordedTool


class WorkspaceTools:
    """The tools of a workspace, their trust and their confinement."""

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
        tools = _own_tools(own, paths.workspace)
        self._own_off = {tool.name: reason for tool in tools if (reason := self._why_off(tool))}
        self._own = [tool for tool in tools if tool.name not in self._own_off]
        self.trust = Trust(paths.trust, paths.sent_trust)
        self._opened_mcp: McpServers | None = None

    def _why_off(self, tool: FunctionTool | RecordedTool) -> str:
        """Return why a passed function is off; a run keeps the functions that it began with."""
        if isinstance(tool, RecordedTool):
            return ""
        return installed.switched_off(tool.name, os.environ, self._preferences)

    @cached_property
    def confinement(self) -> Confinement:
        """The confinement of tools on this machine, shared by the process since its set-up is kept."""
        return confinement.choose(unsafe=self._unsafe)

    def programs(self) -> list[tuple[Skill, Manifest]]:
        """Return the active programs with their current manifests."""
        rows = [skill for skill in self._registry.list_skills() if skill.kind == "executable"]
        manifests = {folder: manifest_file.read(folder)[0] for folder in {row.base_dir for row in rows}}
        return [(row, manifest) for row in rows for manifest in manifests[row.base_dir] if manifest.name == row.name]

    def untrusted(self) -> list[Skill]:
        """Return the workspace's programs that the user has not trusted."""
        return [row for row, _ in self.programs() if not self.trust.is_trusted(row.base_dir, row.source)]

    def trusts(self, skill: Skill) -> bool:
        """Whether the user trusts the programs and scripts in a skill's folder as they are now."""
        return self.trust.is_trusted(skill.base_dir, skill.source)

    def scripted(self) -> list[Skill]:
        """Return the workspace's skills that contain scripts."""
        return [row for row in self._registry.list_skills() if row.kind == "context" and self.has_scripts(row)]

    def has_scripts(self, skill: Skill) -> bool:
        """Whether a skill of the workspace contains scripts, which run only if the user trusts its folder."""
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
        """The tools of installed packages, and notes about them."""
        return functions.discover(self._paths.workspace, os.environ, self._preferences) if self._installed else ([], [])

    @property
    def has_mcp(self) -> bool:
        """Whether any MCP server is configured, for the workspace or by the user."""
        return self._paths.has_mcp

    @property
    def mcp(self) -> McpServers:
        """The MCP servers, which are not started by this."""
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
        """Return what MCP servers offer, except what the user switched off; `start` starts servers if needed."""
        offer, preferences = self.mcp.offer(start=start), self._preferences
        if not preferences.mcp_off:
            return offer
        tools = tuple(tool for tool in offer.tools if not preferences.switches_off(tool.name))
        prompts = tuple(prompt for prompt in offer.prompts if not preferences.switches_off(prompt.skill_name))
        return replace(offer, tools=tools, prompts=prompts, warnings=(*offer.warnings, *self._unknown_off(offer)))

    def _unknown_off(self, offer: ToolOffer) -> Iterator[str]:
        """Yield a warning for each name in `off` that no MCP server offers."""
        names = [*(tool.name for tool in offer.tools), *(prompt.skill_name for prompt in offer.prompts)]
        for off in self._preferences.mcp_off:
            if not any(name == off or name.startswith(f"{off}__") for name in names):
                yield f"{off[:80]!r} is listed in `off`, but no MCP server offers it"

    async def read_resource(self, server: str, uri: str, artifacts: Path | None = None) -> Envelope:
        """Read a resource of a trusted MCP server, which is started if needed.

        Text is returned as `text`, other files are saved among the artifacts; a failure is an envelope.
        """
        from goalwright_skills.mcp.server_state import READ_RESOURCE
        from goalwright_skills.mcp.tools import McpTool

        return await McpTool(READ_RESOURCE, "", {}, self.mcp, artifacts, self.disk).read(server, uri)

    def close(self) -> None:
        """Stop the MCP servers."""
        if self._opened_mcp is not None:
            self._opened_mcp.pool.close()

    def mcp_tools(self, specs: Sequence[ToolSpec] | None, artifacts: Path | None = None) -> dict[str, Tool]:
        """Return the recorded tools of MCP servers, or without a record all that are known without a start."""
        if specs is None:
            offered = self.mcp_offer(start=False).tools if self.has_mcp else ()
            specs = [ToolSpec(tool.name, tool.description, tool.offered_parameters) for tool in offered]
        if not specs:
            return {}
        from goalwright_skills.mcp.tools import McpTool

        return {
            spec.name: McpTool(spec.name, spec.description, spec.parameters, self.mcp, artifacts, self.disk)
            for spec in specs
        }

    def server_prompts(self, specs: Sequence[ToolSpec], artifacts: Path | None = None) -> dict[str, McpPrompt]:
        """Return the recorded prompts of MCP servers as skills, by name."""
        if not specs:
            return {}
        from goalwright_skills.mcp.tools import McpPrompt

        rows = ((spec.name, spec.description, spec.parameters) for spec in specs)
        return {row[0]: McpPrompt(*row, self.mcp, artifacts, self.disk) for row in rows}

    @property
    def function_specs(self) -> tuple[ToolSpec, ...]:
        """The functions of installed packages and of the program, as offered to a model."""
        own = {tool.name: tool for tool in self._own}
        programs = {row.name for row, _ in self.programs()}.difference(own)
        by_name = {tool.name: tool for tool in self.functions[0] if tool.name not in programs} | own
        return tuple(ToolSpec(tool.name, tool.description, tool.parameters) for tool in by_name.values())

    @property
    def function_names(self) -> set[str]:
        """The names of all functions, including those of installed packages that a program shadows."""
        return {tool.name for tool in (*self.functions[0], *self._own)}

    def shadowed_programs(self) -> Iterator[str]:
        """Yield a warning for each program of the workspace with the name of a passed function."""
        own = {tool.name for tool in self._own if not isinstance(tool, RecordedTool)}
        for row, _ in self.programs() if own else ():
            if row.name in own:
                yield f"the tool {row.name} of {row.path} is not used: a function passed as a tool has its name"

    def notes(self) -> list[str]:
        """Return a line for each tool: where it is registered from, or why it is not."""
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
        """Return all tools by name, bound to this workspace and a run's artifacts.

        A program shadows functions of installed packages, but never a passed function: that is the caller's code, and
        the program may be a stranger's. `mcp` are the recorded tools of MCP servers, whose names never clash.
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
        """Return the host for a run's own code and the scripts of its skills."""
        return replace(self._host(lambda _: False, log), artifacts=artifacts)

    def capabilities(self, tools: Mapping[str, Tool]) -> frozenset[str]:
        """Return what tasks can do with these tools."""
        programs = [tool.manifest for tool in tools.values() if isinstance(tool, ExecutableTool)]
        return capabilities(programs, [tool for tool in tools.values() if not isinstance(tool, ExecutableTool)])

    def reason(self, name: str) -> str:
        """Return why a declared tool cannot be called; empty if no tool has this name."""
        rows = [row for row in self._registry.list_skills(all=True) if row.kind == "executable" and row.name == name]
        return next((f"is {row.state}: {row.reason}" for row in rows if row.state != "active"), self._absent(name))

    @cached_property
    def absent(self) -> dict[str, str]:
        """Why tools of installed packages cannot be called, by name, such as a missing extra."""
        rows = installed.rows(os.environ, self._preferences)
        return {row.name: row.reason or "" for row in rows if row.state != "active"} | self._own_off

    def _absent(self, name: str) -> str:
        reason = self.absent.get(name)
        return f"cannot be used: {reason}" if reason else ""

    def own_folders(self) -> list[Path]:
        """Return the folders of the workspace's own skills and tools, broken and shadowed ones included."""
        rows = self._registry.list_skills(all=True)
        return list(dict.fromkeys(row.base_dir for row in rows if row.source not in OWN))

    def is_root(self, folder: Path) -> bool:
        """Whether a folder is the workspace itself, whose skill need not match the folder name."""
        return folder.resolve() == self._paths.workspace.resolve()

    def trial_host(self, folder: Path, artifacts: Path, progress: Callable[[str], object] | None = None) -> ToolHost:
        """Return a host to try an author's tool in; `progress` is called with the steps of its build."""
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
    """Convert passed functions to tools; raises InputError for unsuitable functions and duplicate names."""
    tools = [_own_tool(function, workspace) for function in functions]
    for name, count in Counter(tool.name for tool in tools).items():
        if count > 1:
            raise InputError(f"{count} of the tools are called {name}", hint="rename the functions")
    return tools


def tool_name(function: OwnTool) -> str:
    """Return the tool name of a function of the program."""
    return function.name if isinstance(function, RecordedTool) else str(getattr(function, "__name__", ""))


def _own_tool(function: OwnTool, workspace: Path) -> FunctionTool | RecordedTool:
    """Convert a passed function to a tool; raises InputError if a model could not call it."""
    if isinstance(function, RecordedTool):
        return function
    name = tool_name(function)
    if not NAME.fullmatch(name):
        fault = f"the name of the tool {name or function!r} is not of the form <domain>_<action>"
        raise InputError(fault, hint="name the function, for example, orders_find")
    if name in RESERVED:
        raise InputError(f"the tool {name!r} has the name of a built-in one", hint="rename the function")
    try:
        return functions.tool(function, name, workspace)
    except (TypeError, NameError) as error:
        raise InputError(f"the tool {error}", hint="give every parameter a type such as str, int or list") from error


def _silent(_: str) -> None:
    """Report no builds."""
