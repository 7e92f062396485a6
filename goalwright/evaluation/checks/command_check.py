"""The check `command`: runs a program of the evaluation, which is confined and trusted like a tool."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goalwright.evaluation.checks.answer_checks import EVIDENCE, CheckResult
from goalwright.evaluation.errors import UntrustedChecks
from goalwright.settings.journal_place import url
from goalwright_executor.stores.urls import path_of
from goalwright_skills import hidden_paths, safe_files
from goalwright_skills.confinement import Box, Command
from goalwright_skills.confinement.system_paths import interpreter
from goalwright_skills.errors import GoalwrightError
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


# goalwright's own files in `.agents`, which change with every run and are never executed.
_OWN_RECORDS = (".gitignore", "evals", "runs")


def check_trust(cases: Iterable[Case], goalwright: Goalwright, *, trust: bool) -> None:
    """Raise if checks run programs in untrusted folders; with `trust`, trust these folders as they are."""
    trust_store, skip = goalwright.workspace.tools.trust, _record_filter(goalwright)
    for folder in sorted({case.folder for case in cases if case.has_commands}):
        if trust:
            trust_store.trust(folder, skip=skip)
        elif not trust_store.is_trusted(folder, "project", skip):
            raise UntrustedChecks(
                f"checks run programs in {folder}, which is not trusted yet", hint="read them, then trust them"
            )


@dataclass(frozen=True, slots=True)
class CommandCheck:
    """Runs the programs of checks in the artifacts folder of a run; the folder of the case is readable."""

    goalwright: Goalwright

    async def run(self, check: CaseCheck, case: Case, result: Result, artifacts: Artifacts) -> CheckResult:
        """Check that the program exits with status 0; it gets the result as JSON on stdin."""
        tools = self.goalwright.workspace.tools
        host = tools.host(artifacts.folder)
        if not tools.trust.is_trusted(case.folder, "project", _record_filter(self.goalwright)):
            return CheckResult(check.name, passed=False, evidence=f"{case.folder} is not trusted")
        if host.confinement.refusal:
            return CheckResult(check.name, passed=False, evidence=f"it did not run: {host.confinement.refusal}")
        safe_files.make_folder(artifacts.folder, below=safe_files.anchor(artifacts.folder, host.workspace))
        try:
            with scratch_folder(host.scratch) as scratch:
                visible = hidden_paths.unlinked(
                    host.workspace, hidden_paths.shown_anyway(host.workspace, artifacts.folder)
                )
                box = Box(
                    artifacts.folder,
                    (host.workspace, case.folder),
                    (scratch,),
                    limits=host.limits.for_timeout(SECONDS),
                    shown=(*visible, case.folder),
                    views=host.views,
                )
                launch = await asyncio.to_thread(host.confinement.launch, _command(check.value, case.folder), box)
                env = environment(host.environ, (), scratch)
                line = json.dumps(result.to_dict()).encode()
                ended = await process.run(process.ProcessSpec(launch, env, artifacts.folder, SECONDS, line))
        except (GoalwrightError, OSError) as error:
            return CheckResult(check.name, passed=False, evidence=f"it could not be started: {not_started(error)}")
        return CheckResult(check.name, ended.how == "exit" and ended.status == 0, _evidence(ended))


def _record_filter(goalwright: Goalwright) -> Callable[[Path], bool]:
    """Return a filter for the files that the hash of a workspace ignores: goalwright's own records and the journal."""
    agents = goalwright.paths.agents.resolve()
    default = agents / "journal.sqlite"
    journal_url = url(goalwright.paths, goalwright.settings)
    journals = {default, path_of(journal_url, agents).resolve() if journal_url.startswith("sqlite:") else default}

    def is_record(path: Path) -> bool:
        folder = path.parent.resolve()
        if folder == agents and path.name in _OWN_RECORDS:
            return True
        return any(folder == journal.parent and path.name.startswith(journal.name) for journal in journals)

    return is_record


def _command(argv: tuple[str, ...], folder: Path) -> Command:
    """Build the command; arguments that name files beside the cases become absolute paths."""
    program, *rest = argv
    arguments = [str(folder / part) if (folder / part).is_file() else part for part in rest]
    if program in _PYTHON:
        return Command((sys.executable, *PYTHON_OPTIONS, *arguments), interpreter(), python=bool(arguments))
    own = folder / program
    executable = str(own) if own.is_file() else shutil.which(program)
    if executable is None:
        raise GoalwrightError(f"there is no program {program!r}", hint=f"name one beside the cases, in {folder}")
    return Command((executable, *arguments))


def _evidence(ended: process.Ended) -> str:
    if ended.how != "exit":
        return f"it was stopped: {'longer than 60 s' if ended.how == 'timeout' else ended.how}"
    output = " ".join((ended.stdout or ended.stderr).split())
    return shorten(f"{status_text(ended.status)}: {output}" if output else status_text(ended.status), EVIDENCE)
