"""The target of `-o`: a file for the answer, or a folder for the answer and all artifacts (`-o DIR/`)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from goalwright.interfaces.cli.view import whole_file
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from goalwright_executor.history.result import Result

ANSWER = "answer.md"
_MAX_BYTES = 1024**3


@dataclass(frozen=True, slots=True)
class ResultTarget:
    """A file for the answer, or a folder for the answer and all artifacts."""

    path: Path
    is_folder: bool = False

    def __str__(self) -> str:
        return f"{self.path}/" if self.is_folder else str(self.path)

    def check(self) -> None:
        """Raise InputError if the result cannot be written; called before any cost arises."""
        if not self.is_folder:
            check_writable(self.path)
        elif self.path.exists() and not self.path.is_dir():
            raise InputError(f"-o {self}: {self.path} is a file", hint="name a folder, or omit the slash")
        else:
            parent = next(folder for folder in (self.path, *self.path.absolute().parents) if folder.is_dir())
            if not os.access(parent, os.W_OK):
                raise InputError(f"-o {self} is not writable", hint="name another folder, or change its permissions")

    def write(self, result: Result, workspace: Path) -> list[str]:
        """Write the result; returns the artifacts that could not be written, with reasons."""
        if not self.is_folder:
            if result.answer is not None:
                whole_file.write(self.path, result.answer + "\n")
            return []
        from goalwright_skills import safe_files

        self.path.mkdir(parents=True, exist_ok=True)
        folder = self.path.resolve()
        if result.answer is not None:
            names = {artifact.path for artifact in result.artifacts}
            name = ANSWER if ANSWER not in names else f"answer-{result.run_id}.md"
            safe_files.write(folder / name, result.answer + "\n", below=folder)
        return self._copy(result, workspace, folder)

    def _copy(self, result: Result, workspace: Path, folder: Path) -> list[str]:
        from goalwright_executor.results.artifacts import Artifacts
        from goalwright_skills import safe_files

        home = Artifacts.of(workspace.resolve(), result.run_id)
        failures = []
        for artifact in result.artifacts:
            try:
                data = safe_files.read(home.folder / artifact.path, below=home.workspace, limit=_MAX_BYTES)
                if data is None:
                    failures.append(f"{artifact.path}: it is no longer in {home.folder}")
                else:
                    safe_files.write(folder / artifact.path, data, below=folder)
            except (OSError, safe_files.UnsafePath) as error:
                failures.append(f"{artifact.path}: {error}")
        return failures


def check_writable(target: Path | None) -> None:
    """Raise InputError if a file cannot be written; called before any cost arises."""
    if target is None:
        return
    folder = target.absolute().parent
    if target.is_dir():
        raise InputError(f"-o {target} is a folder", hint="name a file in it")
    if not folder.is_dir():
        raise InputError(f"-o {target}: the folder {folder} does not exist", hint="create it, or name another file")
    if not os.access(target if target.exists() else folder, os.W_OK):
        raise InputError(f"-o {target} is not writable", hint="name another file, or change its permissions")


def _parse(_: click.Context, __: click.Parameter, value: str | None) -> ResultTarget | None:
    if value is None or value == "-":
        return None
    return ResultTarget(Path(value), is_folder=value.endswith(("/", os.sep)))


def output_option(command: Any) -> Any:
    """Add -o; `-` means stdout, which is the default."""
    text = "Write the answer to this file; with DIR/, the answer and all artifacts into that folder."
    return click.option("-o", "--output", "target", metavar="FILE|DIR/", help=text, callback=_parse)(command)
