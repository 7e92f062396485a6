"""`python_run`: runs Python code that a model wrote. It is off unless the user wants it."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from goalwright_skills.builtin.code.boxed_run import SECONDS, BoxedRun
from goalwright_skills.builtin.tool_context import ShellRules
from goalwright_skills.confinement import Command
from goalwright_skills.confinement.system_paths import interpreter
from goalwright_skills.programs.toolchain import which
from goalwright_skills.text.untrusted import join_surrogates
from goalwright_skills.tools.effects import Effects
from goalwright_skills.tools.parameter import string_parameter, tool_parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from goalwright_skills.builtin.tool_context import ToolContext
    from goalwright_skills.programs.executable import ToolHost
    from goalwright_skills.tools.envelope import Envelope


LONGEST = 100_000
BOX = (
    "It runs confined: in the run's artifacts, where it may write files; it may read the workspace "
    f"($GOALWRIGHT_WORKSPACE), has no network, and is stopped after {SECONDS:g} s. Nothing can be installed."
)


class PythonRun:
    """Runs Python code."""

    name = "python_run"
    description = f"Run Python code, and return what it prints. {BOX}"
    key = "code"
    parameters: ClassVar[Mapping[str, Any]] = tool_parameters(
        "code", code=string_parameter("A whole program. Print what you want to see.")
    )

    def __init__(self, host: Callable[[], ToolHost] | None) -> None:
        self._host = host

    @classmethod
    def of(cls, run: ToolContext) -> PythonRun:
        """The tool of one task."""
        return cls(run.host)

    def effects(self, _arguments: Mapping[str, Any]) -> Effects:
        """It may write to the run's artifacts."""
        return Effects("artifacts")

    def preview(self, arguments: Mapping[str, Any]) -> str:
        """The code itself."""
        return f"{self.name}\n{arguments.get(self.key)}"

    async def call(self, arguments: Mapping[str, Any]) -> Envelope:
        """Run it; every failure is an envelope, never an exception."""
        assert self._host is not None  # noqa: S101 - only a planner sees a tool without a host
        given = join_surrogates(dict(arguments))
        run = self.boxed(BoxedRun(self.name, self._host(), arguments=given))
        code = given.get(self.key)
        known = self.parameters["properties"]
        if not isinstance(code, str) or not code.strip() or given.keys() - known.keys():
            return run.failed("INVALID_PARAM", f"give {' and '.join(known)}, and nothing else — not {given!r:.200}")
        if fault := self.fault(given):
            return run.failed("INVALID_PARAM", fault)
        if len(code) > LONGEST:
            what = f"{self.key} has {len(code):,} characters, the limit is {LONGEST:,}"
            return run.failed("INVALID_PARAM", f"{what} — run less at once")
        missing = self.missing()
        if missing:
            return run.failed("EXECUTION_ERROR", f"{missing} is not installed on this machine — do without it")
        return await run.run(lambda scratch: self.command(code, scratch))

    def boxed(self, run: BoxedRun) -> BoxedRun:
        """The run of one call, as this tool has it."""
        return run

    def fault(self, _given: Mapping[str, Any]) -> str:
        """What is wrong with the other arguments; empty if nothing is."""
        return ""

    def missing(self) -> str:
        """The program that it needs and this machine does not have."""
        return ""

    def command(self, code: str, scratch: Path) -> Command:
        """The command that runs the code."""
        file = scratch / "code.py"
        file.write_text(code, encoding="utf-8")
        return Command((sys.executable, "-I", "-B", "-X", "utf8", str(file)), interpreter())


class ShellRun(PythonRun):
    """Runs a shell command."""

    name = "shell_run"
    description = (
        "Run a command with bash, and return what it prints. It runs confined: in the run's artifacts, where it may "
        "write files; it may read the workspace ($GOALWRIGHT_WORKSPACE), and has no network except HTTP to hosts that the "
        "user allows."
    )
    key = "command"
    parameters: ClassVar[Mapping[str, Any]] = tool_parameters(
        "command",
        command=string_parameter("The command, or a script, such as: cd $GOALWRIGHT_WORKSPACE && make test"),
        timeout={"type": "integer", "description": f"Seconds, {SECONDS:g} by default; more for tests and builds."},
    )

    def __init__(self, host: Callable[[], ToolHost] | None, rules: ShellRules | None = None) -> None:
        super().__init__(host)
        self._rules = rules or ShellRules()

    @classmethod
    def of(cls, run: ToolContext) -> ShellRun:
        """The tool of one task."""
        return cls(run.host, run.shell)

    def boxed(self, run: BoxedRun) -> BoxedRun:
        """The run of one call: as long as it asks for, within what the user allows."""
        seconds = run.arguments.get("timeout") or min(SECONDS, self._rules.most_seconds)
        return replace(run, seconds=seconds, hosts=self._rules.hosts)

    def fault(self, given: Mapping[str, Any]) -> str:
        """What is wrong with the timeout."""
        seconds, most = given.get("timeout"), self._rules.most_seconds
        if seconds is None or (isinstance(seconds, int) and not isinstance(seconds, bool) and 0 < seconds <= most):
            return ""
        return f"timeout {seconds!r:.20} is not a number of seconds from 1 to {most} — give another, or leave it out"

    def missing(self) -> str:
        """The shell, if there is none."""
        return "" if which("bash") else "bash"

    def command(self, code: str, scratch: Path) -> Command:
        """The command that runs the shell."""
        file = scratch / "command.sh"
        file.write_text(code + "\n", encoding="utf-8")
        return Command((which("bash") or "bash", "--noprofile", "--norc", str(file)), interpreter())
