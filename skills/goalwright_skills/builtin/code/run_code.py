"""`python_run` and `shell_run`: run code and commands that a model wrote. Both are off by default."""

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
_SANDBOX = (
    "It runs in a sandbox, in the folder of the run's artifacts, where it can write files. It can read the workspace "
    "($GOALWRIGHT_WORKSPACE)"
)


class PythonRun:
    """Runs Python code."""

    name = "python_run"
    description = (
        f"Run Python code and return its output. {_SANDBOX}, has no network and a timeout of {SECONDS:g} s. "
        "Packages cannot be installed."
    )
    key = "code"
    parameters: ClassVar[Mapping[str, Any]] = tool_parameters(
        "code", code=string_parameter("A complete program. Print the results.")
    )

    def __init__(self, host: Callable[[], ToolHost] | None) -> None:
        self._host = host

    @classmethod
    def of(cls, run: ToolContext) -> PythonRun:
        """Return the tool of one task."""
        return cls(run.host)

    def effects(self, _arguments: Mapping[str, Any]) -> Effects:
        """Return that a call writes to the run's artifacts."""
        return Effects("artifacts")

    def preview(self, arguments: Mapping[str, Any]) -> str:
        """Return the code."""
        return f"{self.name}\n{arguments.get(self.key)}"

    async def call(self, arguments: Mapping[str, Any]) -> Envelope:
        """Run the code; every failure is an envelope, never an exception."""
        assert self._host is not None  # noqa: S101 - only planners see a tool without a host
        parsed = join_surrogates(dict(arguments))
        run = self.boxed(BoxedRun(self.name, self._host(), arguments=parsed))
        code = parsed.get(self.key)
        names = self.parameters["properties"]
        if not isinstance(code, str) or not code.strip() or parsed.keys() - names.keys():
            return run.failed("INVALID_PARAM", f"give {' and '.join(names)}, and nothing else — not {parsed!r:.200}")
        if fault := self.fault(parsed):
            return run.failed("INVALID_PARAM", fault)
        if len(code) > LONGEST:
            message = f"{self.key} has {len(code):,} characters, the limit is {LONGEST:,} — run less at once"
            return run.failed("INVALID_PARAM", message)
        missing = self.missing()
        if missing:
            return run.failed("EXECUTION_ERROR", f"{missing} is not installed on this machine — do without it")
        return await run.run(lambda scratch: self.command(code, scratch))

    def boxed(self, run: BoxedRun) -> BoxedRun:
        """Return the run of one call with this tool's limits."""
        return run

    def fault(self, _arguments: Mapping[str, Any]) -> str:
        """Return the fault of the other arguments; empty if there is none."""
        return ""

    def missing(self) -> str:
        """Return the required program that is not installed; empty if none is missing."""
        return ""

    def command(self, code: str, scratch: Path) -> Command:
        """Return the command that runs the code."""
        file = scratch / "code.py"
        file.write_text(code, encoding="utf-8")
        return Command((sys.executable, "-I", "-B", "-X", "utf8", str(file)), interpreter())


class ShellRun(PythonRun):
    """Runs a shell command."""

    name = "shell_run"
    description = (
        f"Run a command with bash and return its output. {_SANDBOX}, and has no network except HTTP to hosts that the "
        "user allows."
    )
    key = "command"
    parameters: ClassVar[Mapping[str, Any]] = tool_parameters(
        "command",
        command=string_parameter("The command, or a script, such as: cd $GOALWRIGHT_WORKSPACE && make test"),
        timeout={"type": "integer", "description": f"Seconds, by default {SECONDS:g}; give more for tests and builds."},
    )

    def __init__(self, host: Callable[[], ToolHost] | None, rules: ShellRules | None = None) -> None:
        super().__init__(host)
        self._rules = rules or ShellRules()

    @classmethod
    def of(cls, run: ToolContext) -> ShellRun:
        """Return the tool of one task."""
        return cls(run.host, run.shell)

    def boxed(self, run: BoxedRun) -> BoxedRun:
        """Return the run with the requested timeout and the allowed hosts."""
        seconds = run.arguments.get("timeout") or min(SECONDS, self._rules.max_seconds)
        return replace(run, seconds=seconds, hosts=self._rules.hosts)

    def fault(self, arguments: Mapping[str, Any]) -> str:
        """Return the fault of the timeout."""
        seconds, longest = arguments.get("timeout"), self._rules.max_seconds
        if seconds is None or (isinstance(seconds, int) and not isinstance(seconds, bool) and 0 < seconds <= longest):
            return ""
        return f"timeout {seconds!r:.20} is not a number of seconds from 1 to {longest} — give another one or omit it"

    def missing(self) -> str:
        """Return `bash` if it is not installed."""
        return "" if which("bash") else "bash"

    def command(self, code: str, scratch: Path) -> Command:
        """Return the command that runs the shell."""
        file = scratch / "command.sh"
        file.write_text(code + "\n", encoding="utf-8")
        return Command((which("bash") or "bash", "--noprofile", "--norc", str(file)), interpreter())
