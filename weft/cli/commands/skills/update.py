"""`weft skills update`: the skills that came from git repositories, as they are there now."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

import click

from weft.cli import confirm, options
from weft.cli.view import output
from weft_skills.errors import InputError, WeftError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from weft_skills.manage.lock_file import Origin

_MAX_LINES = 400


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]…")
@click.option("--check", is_flag=True, help="Change nothing; exit 1 if something would change.")
@click.option("--allow-local", is_flag=True, help="Also fetch from repositories on this machine.")
@click.option("--yes", is_flag=True, help="Fetch, and take every change, without asking.")
@options.common
def update(names: tuple[str, ...], workspace: Path, *, check: bool, allow_local: bool, yes: bool, **mode: Any) -> int:
    """Update skills that were imported from git repositories.

    Reads .agents/skills.lock, shows each address and what differs, and asks before anything is replaced. The lock file
    comes with the workspace: look at the addresses before you confirm.

    \b
    Examples:
      weft skills update
      weft skills update pdf
      weft skills update --check --yes    # in CI

    Exit status: 0 done; 1 with --check if something would change, or a repository could not be read; 2 no such skill.
    """
    from weft_skills.manage import lock_file

    where = options.paths(workspace).workspace
    known = lock_file.read(where)
    for name in set(names) - known.keys():
        raise InputError(f"{name} did not come from a repository", hint="`weft skills import URL` keeps where from")
    rows, failed = [], False
    for name in names or sorted(known):
        origin = known[name]
        output.say(f"{name}: {origin.url}")
        if not confirm.confirmed("Fetch it?", yes=yes):
            rows.append({"name": name, "url": origin.url, "state": "skipped"})
            continue
        try:
            state = _update(where, name, origin, check=check, local=allow_local, yes=yes)
        except WeftError as error:
            output.say_warning(f"{name}: {error.message}")
            state, failed = "failed", True
        rows.append({"name": name, "url": origin.url, "state": state})
    if mode["as_json"]:
        output.print_json(rows)
    else:
        for row in rows:
            output.print_text(f"{row['state']:<9} {row['name']}")
    return int(failed or (check and any(row["state"] == "changed" for row in rows)))


def _update(where: Path, name: str, origin: Origin, *, check: bool, local: bool, yes: bool) -> str:
    """Update one skill; returns what became of it."""
    from weft_skills.manage import install, lock_file
    from weft_skills.manage.git_source import GitUrl, fetched

    source = GitUrl.parse(origin.url, local=local)
    if source is None:
        raise InputError(f"{origin.url} is not an address", hint="import the skill again")
    with fetched(source, local=local) as (packed, commit), install.stage(packed, where, id=name) as staged:
        if lock_file.fingerprint(staged.folder) == lock_file.fingerprint(staged.target):
            lock_file.record(where, name, lock_file.Origin(origin.url, commit, lock_file.fingerprint(staged.target)))
            return "current"
        for line in _differences(staged.target, staged.folder):
            output.say(line)
        for finding in staged.distrust:
            output.say_warning(f"distrust {finding.path}:{finding.line}: {finding.what}")
        if check:
            return "changed"
        if lock_file.fingerprint(staged.target) != origin.sha256 and staged.exists:
            output.say_warning(f"{name} was changed here since it was imported; updating drops that")
        if not confirm.confirmed(f"Replace {name} by commit {commit[:12]}?", yes=yes):
            return "skipped"
        path = staged.commit(replace=True)
        lock_file.record(where, name, lock_file.Origin(origin.url, commit, lock_file.fingerprint(path)))
        return "updated"


def _differences(before: Path, after: Path) -> Iterator[str]:
    """What changes, file by file, as a patch; long ones are cut."""
    files = {
        path.relative_to(folder).as_posix()
        for folder in (before, after)
        for path in folder.rglob("*")
        if path.is_file()
    }
    shown = 0
    for name in sorted(files):
        old, new = _lines(before / name), _lines(after / name)
        for line in difflib.unified_diff(old, new, f"a/{name}", f"b/{name}", lineterm=""):
            shown += 1
            if shown > _MAX_LINES:
                yield "… the rest of the difference is left out"
                return
            yield line


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return [f"({path.stat().st_size} bytes)"] if path.is_file() else []
