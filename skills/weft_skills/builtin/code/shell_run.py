"""`shell_run`: runs a shell command that a model wrote. It is off unless the user wants it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from weft_skills.builtin.code.python_run import BOX, PythonRun
from weft_skills.builtin.parameters import takes, text
from weft_skills.confinement import Command
from weft_skills.programs.toolchain import which

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class ShellRun(PythonRun):
    """Runs a shell command."""

    name = "shell_run"
    description = f"Run a command with bash, and return what it prints. {BOX}"
    key = "command"
    parameters: ClassVar[Mapping[str, Any]] = takes(
        "command", command=text("The command, or a script of several lines.")
    )

    def missing(self) -> str:
        """The shell, if there is none."""
        return "" if which("bash") else "bash"

    def command(self, code: str, scratch: Path) -> Command:
        """The command that runs the shell."""
        file = scratch / "command.sh"
        file.write_text(code + "\n", encoding="utf-8")
        return Command((which("bash") or "bash", "--noprofile", "--norc", str(file)))
