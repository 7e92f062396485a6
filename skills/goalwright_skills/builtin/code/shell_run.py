"""`shell_run`: runs a shell command that a model wrote. It is off unless the user wants it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from goalwright_skills.builtin.code.boxed_run import SECONDS
from goalwright_skills.builtin.code.python_run import PythonRun
from goalwright_skills.builtin.code.shell_rules import ShellRules
from goalwright_skills.builtin.parameters import takes, text
from goalwright_skills.confinement import Command
from goalwright_skills.confinement.system_paths import interpreter
from goalwright_skills.programs.toolchain import which

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from goalwright_skills.builtin.code.boxed_run import BoxedRun
    from goalwright_skills.builtin.tool_context import ToolContext
    from goalwright_skills.programs.executable import ToolHost


class ShellRun(PythonRun):
    """Runs a shell command."""

    name = "shell_run"
    description = (
        "Run a command with bash, and return what it prints. It runs confined: in the run's artifacts, where it may "
        "write files; it may read the workspace ($GOALWRIGHT_WORKSPACE), and has no network except HTTP to hosts that the "
        "user allows."
    )
    key = "command"
    parameters: ClassVar[Mapping[str, Any]] = takes(
        "command",
        command=text("The command, or a script, such as: cd $GOALWRIGHT_WORKSPACE && make test"),
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
