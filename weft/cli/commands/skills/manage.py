"""`weft skills add|import|delete|files`: the workspace's own skills."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from skills.errors import InputError
from skills.text.plural import counted
from weft.cli import options
from weft.cli.view import output

if TYPE_CHECKING:
    from skills.discovery.registry import Registry
    from skills.manage.install import Staged

_YES = click.option("--yes", is_flag=True, help="Do not ask.")


@click.command("add")
@click.argument("name", metavar="ID")
@click.option("--description", required=True, help="What the skill does and when to use it.")
@options.common
def add(name: str, description: str, workspace: Path, *, as_json: bool, quiet: bool, verbose: bool) -> int:
    """Create a minimal skill in .agents/skills/.

    \b
    Examples:
      weft skills add release-notes --description "Write release notes from a list of changes."
    """
    from skills.manage import install

    path = install.add(options.paths(workspace).workspace, name, description)
    if as_json:
        output.print_json({"name": name, "path": str(path)})
    else:
        output.print_text(str(path))
    if not as_json and not quiet:
        output.say("Now say in it, step by step, how it is done.")
    return 0


@click.command("import")
@click.argument("source", type=click.Path(path_type=Path))
@click.option("--id", "name", metavar="ID", help="The name it gets here (default: its own).")
@_YES
@options.common
def import_skill(
    source: Path, name: str | None, workspace: Path, *, yes: bool, as_json: bool, quiet: bool, verbose: bool
) -> int:
    """Import a skill from a folder, a .zip, a .tar.gz or a .skill file into .agents/skills/.

    Everything or nothing: an archive that would write elsewhere is refused whole. What a reader should distrust in it
    is listed first.

    \b
    Examples:
      weft skills import ~/Downloads/some-skill.zip
      weft skills import ../other/skills/code-review --id our-review --yes
    """
    from skills.manage import install

    with install.stage(source, options.paths(workspace).workspace, id=name) as staged:
        if not quiet:
            _warn(staged)
        replaces = staged.exists
        if (replaces or (staged.distrust and _asks())) and not _confirmed(yes, _question(staged)):
            why = f"{staged.target} is there already" if replaces else "it was not confirmed"
            raise InputError(f"{why}: nothing was imported", hint="confirm with --yes, or give another --id")
        path = staged.commit(replace=replaces)
    document = {
        "name": staged.name,
        "id": staged.id,
        "path": str(path),
        "files": list(staged.files),
        "replaced": replaces,
        "distrust": [
            {"path": one.path, "line": one.line, "rule": one.rule, "what": one.what} for one in staged.distrust
        ],
    }
    if as_json:
        output.print_json(document)
    else:
        output.print_text(f"Imported {staged.name} ({counted(len(staged.files), 'file')}) into {path}")
    return 0


@click.command("delete")
@click.argument("name")
@_YES
@options.common
def delete(name: str, workspace: Path, *, yes: bool, as_json: bool, quiet: bool, verbose: bool) -> int:
    """Delete a skill of .agents/skills/, or a tool that `skills new` wrote, folder and all. Others are read-only.

    \b
    Examples:
      weft skills delete release-notes --yes
      weft skills delete word-count    a tool's folder; its tools' names do as well
    """
    from skills.manage import install

    registry = _registry(workspace)
    found = install.own(registry, name)
    if not _confirmed(yes, f"Delete {found.base_dir} and all its files?"):
        raise InputError("nothing was deleted", hint="confirm with --yes")
    folder = install.delete(registry, name)
    if as_json:
        output.print_json({"name": name, "deleted": str(folder)})
    else:
        output.print_text(f"Deleted {folder}")
    return 0


@click.command("files")
@click.argument("name")
@options.common
def files(name: str, workspace: Path, *, as_json: bool, quiet: bool, verbose: bool) -> int:
    """List a skill's files with their sizes.

    \b
    Examples:
      weft skills files cataloging-apis
    """
    from skills.manage import install

    registry = _registry(workspace)
    skill = registry.get(name)
    if skill is None:
        registry.load_content(name)  # says which skills there are
        return 2
    listed = install.files(skill)
    if as_json:
        output.print_json([{"path": path, "bytes": size} for path, size in listed])
    else:
        for path, size in listed:
            output.print_text(f"{size:>10,}  {path}")
    return 0


def _registry(workspace: Path) -> Registry:
    from weft.cli.commands.skills.list import open_skills

    return open_skills(workspace, {}, quiet=True).registry


def _asks() -> bool:
    """Whether there is a person to ask."""
    return sys.stdin.isatty() and output.is_terminal()


def _confirmed(yes: bool, question: str) -> bool:
    return yes or (_asks() and click.confirm(question, err=True))


def _question(staged: Staged) -> str:
    if staged.exists:
        return f"{staged.target} is there already. Replace it?"
    return "Import it all the same?"


def _warn(staged: Staged) -> None:
    for problem in staged.problems:
        output.say_warning(str(problem))
    for finding in staged.distrust:
        output.say_warning(f"distrust {finding.path}:{finding.line}: {finding.what}")
