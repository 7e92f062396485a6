"""The check `command`: a program of the evaluation, confined and trusted as tools are."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goalwright.evaluation.checks.answer_checks import EVIDENCE, CheckResult
from goalwright.settings.journal_place import url
from goalwright_executor.stores.urls import path_of
from goalwright_skills import hidden_paths, safe_files
from goalwright_skills.confinement import Box, Command
from goalwright_skills.confinement.system_paths import interpreter
from goalwright_skills.errors import GoalwrightError, SetupError
from goalwright_skills.programs import process
from goalwright_skills.programs.environment import environment
from goalwright_skills.programs.executable import not_started, scratch_folder, status_text
from goalwright_skills.programs.runtimes import PYTHON_OPTIONS
from goalwright_skills.text.formatting import shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from goalwright.evaluation.case import Case
    from goalwright.evaluation.checks.check import CaseCheck
    from goalwright.runs.runtime import Goalwright
    from goalwright_executor.history.result import Result
    from goalwright_executor.results.artifacts import Artifacts

SECONDS = 60.0
_PYTHON = ("python", "python3")


# What goalwright keeps in `.agents` changes with every run, and nothing of it is run.
_OWN_RECORDS = (".gitignore", "evals", "runs")


def check_trust(cases: Iterable[Case], goalwright: Goalwright, *, trust: bool) -> None:
    """Raise if a case runs a program whose folder the user has not trusted; with `trust`, trust them as they are."""
    answers, skip = goalwright.workspace.tools.trust, _records(goalwright)
    for folder in sorted({case.folder for case in cases if case.has_commands}):
        if trust:
            answers.trust(folder, skip=skip)
        elif not answers.is_trusted(folder, "project", skip):
            raise SetupError(
                f"checks run programs in {folder}, which is not trusted yet",
                hint="read them, then run again with --trust",
            )


@dataclass(frozen=True, slots=True)
class CommandCheck:
    """Runs the programs of checks; a case's own folder is readable, the run's artifacts are the working directory."""

    goalwright: Goalwright

    async def run(self, check: CaseCheck, case: Case, result: Result, artifacts: Artifacts) -> CheckResult:
        """Whether the program exits with status 0; it gets the result as JSON on standard input."""
        tools = self.goalwright.workspace.tools
        host = tools.host(artifacts.folder)
        if not tools.trust.is_trusted(case.folder, "project", _records(self.goalwright)):
            return CheckResult(check.name, passed=False, evidence=f"{case.folder} is not trusted (any more)")
        if host.confinement.refusal:
            return CheckResult(check.name, passed=False, evidence=f"it is not run: {host.confinement.refusal}")
        safe_files.make_folder(artifacts.folder, below=safe_files.anchor(artifacts.folder, host.workspace))
        try:
            with scratch_folder(host.scratch) as scratch:
                shown = hidden_paths.unlinked(
                    host.workspace, hidden_paths.shown_anyway(host.workspace, artifacts.folder)
                )
                box = Box(
                    artifacts.folder,
                    (host.workspace, case.folder),
                    (scratch,),
                    limits=host.limits.for_timeout(SECONDS),
                    shown=(*shown, case.folder),
                    views=host.views,
                )
                launch = await asyncio.to_thread(host.confinement.launch, _command(check.value, case.folder), box)
                env = environment(host.environ, (), scratch)
                line = json.dumps(result.to_dict()).encode()
                ended = await process.run(process.ProcessSpec(launch, env, artifacts.folder, SECONDS, line))
        except (GoalwrightError, OSError) as error:
            return CheckResult(check.name, passed=False, evidence=f"it cannot be started: {not_started(error)}")
        return CheckResult(check.name, ended.how == "exit" and ended.status == 0, _evidence(ended))


def _records(goalwright: Goalwright) -> Callable[[Path], bool]:
    """What is left out of a folder's hash if it is a workspace: goalwright's own records there, and the journal."""
    agents = goalwright.paths.agents.resolve()
    own = agents / "journal.sqlite"
    place = url(goalwright.paths, goalwright.settings)
    journals = {own, path_of(place, agents).resolve() if place.startswith("sqlite:") else own}

    def is_record(path: Path) -> bool:
        here = path.parent.resolve()
        if here == agents and path.name in _OWN_RECORDS:
            return True
        return any(here == journal.parent and path.name.startswith(journal.name) for journal in journals)

    return is_record


def _command(argv: tuple[str, ...], folder: Path) -> Command:
    """What is started: arguments that name files beside the cases are those files, wherever the program runs."""
    program, *rest = argv
    arguments = [str(folder / part) if (folder / part).is_file() else part for part in rest]
    if program in _PYTHON:
        return Command((sys.executable, *PYTHON_OPTIONS, *arguments), interpreter(), python=bool(arguments))
    own = folder / program
    found = str(own) if own.is_file() else shutil.which(program)
    if found is None:
        raise GoalwrightError(f"there is no program {program!r}", hint=f"name one beside the cases, in {folder}")
    return Command((found, *arguments))


def _evidence(ended: process.Ended) -> str:
    if ended.how != "exit":
        return f"it was stopped: {'longer than 60 s' if ended.how == 'timeout' else ended.how}"
    said = " ".join((ended.stdout or ended.stderr).split())
    return shorten(f"{status_text(ended.status)}: {said}" if said else status_text(ended.status), EVIDENCE)
