"""`goalwright skills update`: the skills that came from git repositories, as they are there now."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import configuration, options
from goalwright.interfaces.cli.dialogs import confirm
from goalwright.interfaces.cli.view import output
from goalwright_skills.errors import GoalwrightError

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.interfaces.cli.view.output_mode import OutputMode
    from goalwright_skills.manage.update import FetchedVersion, UpdateState


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]…")
@click.option("--check", is_flag=True, help="Change nothing; exit 1 if something would change.")
@click.option("--allow-local", is_flag=True, help="Also fetch from repositories on this machine.")
@click.option("--yes", is_flag=True, help="Fetch, and take every change, without asking.")
@options.common
def update(
    names: tuple[str, ...], workspace: Path, mode: OutputMode, *, check: bool, allow_local: bool, yes: bool
) -> int:
    """Update skills that were imported from git repositories.

    Reads .agents/skills.lock, shows each address and what differs, and asks before anything is replaced. The lock file
    comes with the workspace: look at the addresses before you confirm.

    \b
    Examples:
      goalwright skills update
      goalwright skills update pdf
      goalwright skills update --check --yes    # in CI

    Exit status: 0 done; 1 with --check if something would change, or a repository could not be read; 2 no such skill.
    """
    from goalwright_skills.manage.update import SkillUpdate, fetched_version, imported_skills

    where = configuration.paths(workspace).workspace
    updates = []
    for name, origin in imported_skills(where, names).items():
        output.say(f"{name}: {origin.url}")
        state: UpdateState = "skipped"
        try:
            if confirm.confirmed("Fetch it?", yes=yes):
                with fetched_version(where, name, origin, local=allow_local) as version:
                    state = _offer(version, check=check, yes=yes)
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


def _offer(version: FetchedVersion, *, check: bool, yes: bool) -> UpdateState:
    """Show what a newer version changes, and install it if the user agrees."""
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
    if not confirm.confirmed(f"Replace {name} with commit {version.commit[:12]}?", yes=yes):
        return "skipped"
    version.install()
    return "updated"
