"""`goalwright skills import` and `goalwright skills update`."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from goalwright.interfaces.cli import configuration, options
from goalwright.interfaces.cli.commands.skills.new import warn_of_shadowing
from goalwright.interfaces.cli.dialogs import terminal
from goalwright.interfaces.cli.view import output
from goalwright_skills.errors import GoalwrightError, InputError
from goalwright_skills.text.formatting import counted, spelled

if TYPE_CHECKING:
    from pathlib import PurePosixPath

    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright_skills.manage.git_source import GitUrl
    from goalwright_skills.manage.install import Staged
    from goalwright_skills.manage.update import FetchedVersion, UpdateState


@dataclass(frozen=True, slots=True)
class _Import:
    """The options of an import."""

    workspace: Path
    name: str | None
    yes: bool
    quiet: bool


@click.command("import")
@click.argument("source")
@click.option("--id", "name", metavar="ID", help="Import it under this name (default: its own).")
@click.option("--all", "everything", is_flag=True, help="Import every skill of a collection.")
@click.option("--allow-local", is_flag=True, help="Also fetch from a git repository on this machine.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@options.common
def import_skill(
    source: str, name: str | None, workspace: Path, mode: OutputMode, *, everything: bool, allow_local: bool, yes: bool
) -> int:
    """Import skills from a folder, an archive or git.

    SOURCE is a folder, a .zip, .tar.gz or .skill file, or a git repository (https or ssh, with an optional #path).
    Skills go to .agents/skills/. goalwright first lists the parts that deserve distrust, and refuses archives that
    would write elsewhere. .agents/skills.lock records repositories and commits, for `goalwright skills update`.

    \b
    Examples:
      goalwright skills import ~/Downloads/some-skill.zip
      goalwright skills import ../other/skills/code-review --id our-review --yes
      goalwright skills import https://github.com/anthropics/skills#skills/pdf
      goalwright skills import --all git@example.com:team/skills.git
    """
    from goalwright_skills.manage import install, lock_file
    from goalwright_skills.manage.git_source import GitUrl, fetched

    if everything and name:
        raise InputError("--all and --id cannot be used together", hint="leave out --id")
    asked = _Import(configuration.paths(workspace).workspace, name, yes, mode.quiet)
    remote = GitUrl.parse(source, local=allow_local)
    documents: list[dict[str, Any]] = []
    with ExitStack() as stack:
        packed, commit = stack.enter_context(fetched(remote, local=allow_local)) if remote else (Path(source), "")
        if everything and not packed.exists():
            raise InputError(f"{source} does not exist", hint="give a folder, an archive or a git repository")
        for at in install.skills_in(packed) if everything else [None]:
            document, folder = _take(packed, asked, at)
            documents.append(document)
            if remote is not None:
                origin = lock_file.Origin(_address(remote, at), commit, lock_file.fingerprint(folder))
                lock_file.record(asked.workspace, document["id"], origin)
    if not documents:
        raise InputError(f"{source} contains no SKILL.md: nothing was imported", hint="name another folder")
    if mode.as_json:
        output.print_json(documents if everything else documents[0])
    else:
        for imported in documents:
            output.print_text(
                f"Imported {imported['name']} ({counted(len(imported['files']), 'file')}) into {imported['path']}"
            )
    if not mode.quiet:
        warn_of_shadowing(workspace, [imported["id"] for imported in documents])
    return 0


def _address(remote: GitUrl, at: PurePosixPath | None) -> str:
    """Return the address of one skill in a repository."""
    parts = [str(part) for part in (remote.path, at) if part is not None and str(part) != "."]
    return f"{remote.kept}#{'/'.join(parts)}" if parts else remote.kept


def _take(source: Path, asked: _Import, at: PurePosixPath | None) -> tuple[dict[str, Any], Path]:
    """Import one skill; returns its JSON document and its folder."""
    from goalwright_skills.manage import install

    with install.stage(source, asked.workspace, id=asked.name, at=at) as staged:
        if not asked.quiet:
            _warn(staged)
        replaces = staged.exists
        must_ask = replaces or (staged.distrust and terminal.can_ask())
        if must_ask and not terminal.confirmed(_question(staged), yes=asked.yes):
            why = f"{staged.target} already exists" if replaces else "not confirmed"
            raise InputError(f"{why}: nothing was imported", hint="confirm with --yes, or give another --id")
        path = staged.commit(replace=replaces)
    document = {
        "name": staged.name,
        "id": staged.id,
        "path": str(path),
        "files": list(staged.files),
        "replaced": replaces,
        "distrust": [asdict(finding) for finding in staged.distrust],
    }
    return document, path


def _question(staged: Staged) -> str:
    if staged.exists:
        return f"{staged.target} already exists. Replace it?"
    return f"Import {staged.name} anyway?"


def _warn(staged: Staged) -> None:
    for problem in staged.problems:
        output.say_warning(str(problem))
    for finding in staged.distrust:
        output.say_warning(f"distrust {spelled(finding.path)}:{finding.line}: {finding.what}")


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]…")
@click.option("--check", is_flag=True, help="Change nothing; exit with status 1 if a skill would change.")
@click.option("--allow-local", is_flag=True, help="Also fetch from repositories on this machine.")
@click.option("--yes", is_flag=True, help="Fetch and replace without asking.")
@options.common
def update(
    names: tuple[str, ...], workspace: Path, mode: OutputMode, *, check: bool, allow_local: bool, yes: bool
) -> int:
    """Update skills that came from git repositories.

    Reads .agents/skills.lock, shows each address and the differences, and asks before it replaces a skill. The lock
    file comes with the workspace: check the addresses before you confirm.

    \b
    Examples:
      goalwright skills update
      goalwright skills update pdf
      goalwright skills update --check --yes    # in CI

    Exit status: 0 done; 1 a repository could not be read, or with --check a skill would change; 2 no such skill.
    """
    from goalwright_skills.manage.update import SkillUpdate, fetched_version, imported_skills

    where = configuration.paths(workspace).workspace
    updates = []
    for name, origin in imported_skills(where, names).items():
        output.say(f"{name}: {origin.url}")
        state: UpdateState = "skipped"
        try:
            if terminal.confirmed("Fetch it?", yes=yes):
                with fetched_version(where, name, origin, local=allow_local) as version:
                    state = _update(version, check=check, yes=yes)
        except GoalwrightError as error:
            output.say_warning(f"{name}: {error.message}")
            state = "failed"
        updates.append(SkillUpdate(name, origin.url, state))
    if mode.as_json:
        output.print_json([asdict(row) for row in updates])
    else:
        output.print_lines(f"{row.state:<9} {row.name}" for row in updates)
    bad = ("failed", "changed") if check else ("failed",)
    return int(any(row.state in bad for row in updates))


def _update(version: FetchedVersion, *, check: bool, yes: bool) -> UpdateState:
    """Show the changes of a newer version, and install it if the user agrees."""
    if version.is_current:
        version.record()
        return "current"
    for line in version.differences():
        output.say(line)
    for finding in version.staged.distrust:
        output.say_warning(f"distrust {finding.path}:{finding.line}: {finding.what}")
    if check:
        return "changed"
    name = version.staged.id
    if version.was_edited:
        output.say_warning(f"{name} was edited here since it was imported; updating discards those edits")
    if not terminal.confirmed(f"Replace {name} with commit {version.commit[:12]}?", yes=yes):
        return "skipped"
    version.install()
    return "updated"
