"""`run_script`: runs a skill's own scripts if the user trusts the skill."""

from __future__ import annotations

import os
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from goalwright_skills import hidden_paths, safe_files
from goalwright_skills.builtin.code.boxed_run import SECONDS, BoxedRun
from goalwright_skills.confinement import Command
from goalwright_skills.confinement.system_paths import interpreter
from goalwright_skills.errors import GoalwrightError
from goalwright_skills.programs.toolchain import installed, which
from goalwright_skills.text.untrusted import join_surrogates
from goalwright_skills.tools.effects import Effects
from goalwright_skills.tools.parameter import string_parameter, tool_parameters
from goalwright_skills.tools.tool import ToolFault

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goalwright_skills.builtin.tool_context import ToolContext
    from goalwright_skills.programs.executable import ToolHost
    from goalwright_skills.skill import Skill
    from goalwright_skills.tools.envelope import Envelope

SCRIPTS = "scripts"
RUNNERS = {".py": "python", ".sh": "bash", ".js": "node"}
MOST_ARGUMENTS, LONGEST = 100, 20_000
# An isolated interpreter, with the folders of the script and of its skill on the path, so that modules can be imported.
_PYTHON = (
    "import runpy, sys; base = sys.argv[1]; sys.argv = sys.argv[2:]; "
    "sys.path[:0] = [sys.argv[0].rpartition('/')[0], base]; runpy.run_path(sys.argv[0], run_name='__main__')"
)


@dataclass(frozen=True, slots=True)
class ScriptHost:
    """The host of `run_script`, the skills that the task uses, and the check for trust."""

    host: Callable[[], ToolHost]
    in_use: Callable[[], Sequence[Skill]]
    trusted: Callable[[Skill], bool]


class RunScript:
    """Runs a script of a skill that the task uses."""

    name = "run_script"
    description = (
        "Run a script (.py, .sh or .js) from the `scripts` folder of the skill that you follow or have loaded, and "
        "return its output. It runs in a sandbox, in the folder of the run's artifacts, without network, for up to "
        f"{SECONDS:g} s."
    )
    parameters: ClassVar[Mapping[str, Any]] = tool_parameters(
        "path",
        path=string_parameter("The script, such as scripts/check.py, or its absolute path."),
        args={"type": "array", "items": {"type": "string"}, "description": "Its arguments."},
    )

    def __init__(self, host: ScriptHost | None) -> None:
        self._scripts = host

    @classmethod
    def of(cls, run: ToolContext) -> RunScript:
        """Return the tool of one task."""
        return cls(ScriptHost(run.host, run.skills_in_use, run.trusted) if run.host is not None else None)

    def effects(self, _arguments: Mapping[str, Any]) -> Effects:
        """Return that a call writes to the run's artifacts."""
        return Effects("artifacts")

    async def call(self, arguments: Mapping[str, Any]) -> Envelope:
        """Run the script; every failure is an envelope, never an exception."""
        assert self._scripts is not None  # noqa: S101 - only planners see a tool without a host
        parsed = join_surrogates(dict(arguments))
        host = self._scripts.host()
        run = BoxedRun(self.name, host, arguments=parsed)
        try:
            args = _arguments(parsed)
            skill, script = self._find(parsed.get("path"))
            self._check_trust(skill)
            command = _command(skill, script, args)
        except ToolFault as fault:
            return run.failed(fault.code, fault.message)
        parts = tuple(part for part in hidden_paths.skill_parts(skill.base_dir, host.workspace) if part.exists())
        run = BoxedRun(self.name, host, parts, parsed, run.start)
        return await run.run(lambda _: command)

    def _find(self, path: Any) -> tuple[Skill, Path]:
        """Return the script at a path, and its skill."""
        assert self._scripts is not None  # noqa: S101 - as above
        if not isinstance(path, str) or not path.strip() or "\0" in path:
            raise ToolFault("INVALID_PARAM", f"path {path!r:.80} is not a path — give one such as scripts/check.py")
        skills = list(self._scripts.in_use())
        for skill in skills:
            script = _below(path, skill)
            if script is not None and os.path.lexists(script):
                _check_plain(script, skill)
                return skill, script
        scripts = [f"{used.name}: {name}" for used in skills for name in _names(used)]
        listed = (
            f"there are: {', '.join(scripts[:20])}" if scripts else "no skill of this task has scripts; load one first"
        )
        raise ToolFault("NOT_FOUND", f"there is no script {path!r} in the scripts of a skill of this task — {listed}")

    def _check_trust(self, skill: Skill) -> None:
        assert self._scripts is not None  # noqa: S101 - as above
        try:
            trusted = self._scripts.trusted(skill)
        except (GoalwrightError, OSError) as error:
            raise ToolFault("ACCESS_DENIED", f"{skill.base_dir} cannot be checked for trust: {error}") from error
        if not trusted:
            problem = f"the scripts of {skill.name} come with this workspace and are not trusted yet: {skill.base_dir}"
            raise ToolFault("ACCESS_DENIED", f"{problem} — the user has to review and trust them first")


def _below(path: str, skill: Skill) -> Path | None:
    """Return a path below the skill's scripts; None if it is elsewhere."""
    folder = Path(os.path.normpath(skill.base_dir / SCRIPTS))
    relative = Path(path)
    bases = [Path()] if relative.is_absolute() else [skill.base_dir, folder]
    candidates = [Path(os.path.normpath(base / relative)) for base in bases]
    return next((script for script in candidates if script != folder and script.is_relative_to(folder)), None)


def _check_plain(script: Path, skill: Skill) -> None:
    """Raise unless a script is a regular file that is not reached through a link."""
    try:
        safe_files.refuse_links(script, below=skill.base_dir)
    except safe_files.UnsafePath as error:
        raise ToolFault("ACCESS_DENIED", f"{script} is a link, or behind a link — run a regular script file") from error
    mode = script.lstat().st_mode
    if stat.S_ISDIR(mode):
        raise ToolFault("IS_DIRECTORY", f"{script} is a folder — name a script in it")
    if not stat.S_ISREG(mode):
        raise ToolFault("ACCESS_DENIED", f"{script} is not a regular file — run another script")


def _command(skill: Skill, script: Path, args: Sequence[str]) -> Command:
    runner = RUNNERS.get(script.suffix.lower())
    if runner is None:
        problem = f"scripts of type {script.suffix or 'none'} cannot be run: {script.name}"
        raise ToolFault("INVALID_PARAM", f"{problem} — run one of {', '.join(RUNNERS)}")
    if runner == "python":
        python = (sys.executable, "-I", "-B", "-X", "utf8", "-c", _PYTHON, str(skill.base_dir))
        return Command((*python, str(script), *args), interpreter())
    program = which(runner)
    if program is None:
        raise ToolFault("EXECUTION_ERROR", f"{runner} is not installed on this machine — do without {script.name}")
    options = ("--noprofile", "--norc") if runner == "bash" else ()
    return Command((program, *options, str(script), *args), installed(program) if runner == "node" else ())


def _arguments(given: Mapping[str, Any]) -> list[str]:
    args = given.get("args")
    args = [] if args is None else args
    if not isinstance(args, list) or not all(isinstance(argument, str) and "\0" not in argument for argument in args):
        raise ToolFault("INVALID_PARAM", f'args must be a list of strings, not {args!r:.80} — such as ["in.md"]')
    if unknown := given.keys() - {"path", "args"}:
        raise ToolFault("INVALID_PARAM", f"unknown parameter: {min(unknown)} — the parameters are: path, args")
    if len(args) > MOST_ARGUMENTS or sum(map(len, args)) > LONGEST:
        problem = f"more than {MOST_ARGUMENTS} arguments or {LONGEST:,} characters"
        raise ToolFault("INVALID_PARAM", f"args has {problem} — write them to a file and pass its path")
    return args


def _names(skill: Skill) -> list[str]:
    try:
        return sorted(entry.name for entry in (skill.base_dir / SCRIPTS).iterdir() if entry.suffix in RUNNERS)
    except OSError:
        return []
