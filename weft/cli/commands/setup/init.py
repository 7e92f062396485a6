"""`weft init`: a commented weft.toml and, if asked, an example skill."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from skills.errors import InputError
from weft.cli import options
from weft.cli.view import output

if TYPE_CHECKING:
    from pathlib import Path

_HEAD = """# Settings for weft in this folder. Every line is optional; the comments say what holds anyway.
# A flag counts over the environment (WEFT_…), that over this file, this over ~/.config/weft/config.toml.
"""
_EXAMPLE = "Say in one sentence what the skill does, and when to use it: for weekly status mails to the team."


@click.command()
@click.option("--skill", "skill", metavar="ID", help="Also create an example skill of this name.")
@options.common
def init(skill: str | None, workspace: Path, *, as_json: bool, quiet: bool, **_: Any) -> int:
    """Write a commented weft.toml into the workspace; nothing that is there is overwritten.

    \b
    Examples:
      weft init
      weft init --skill status-mails
    """
    from skills.manage import install

    where = options.paths(workspace).workspace
    path = where / "weft.toml"
    there = path.exists()
    if there and not skill:
        raise InputError(f"{path} is there already, and nothing was touched", hint="edit it, or move it away first")
    made = [install.add(where, skill, _EXAMPLE)] if skill else []
    if not there:
        path.write_text(template(), encoding="utf-8")
        made.insert(0, path)
    elif not quiet:
        output.say(f"{path} is there already and stays as it is")
    if as_json:
        output.print_json({"written": [str(one) for one in made]})
    else:
        output.print_text("\n".join(f"wrote {one}" for one in made))
    return 0


def template() -> str:
    """The file, every setting with its explanation, all commented out."""
    from dataclasses import fields

    from weft.settings.settings import Settings

    roles = ("decomposer", "task", "synthesis")
    settings = [one for one in fields(Settings) if one.name not in roles]
    guarded = "; counts here only once you trust this workspace (weft run --trust)"
    lines = [
        f"# {one.metadata['help']}{guarded if one.metadata['guarded'] else ''}\n"
        f"# {one.name} = {_toml(one.name, one.default)}\n"
        for one in settings
    ]
    models = "".join(f'# {role} = "openai/gpt-4o"\n' for role in roles)
    return "\n".join([_HEAD, *lines, f"# A model for one role only.\n# [models]\n{models}"])


def _toml(name: str, default: Any) -> str:
    samples = {"model": '"openai/gpt-4o"', "max_cost": "1.00", "max_tokens": "100000", "timeout": "600"}
    if default is None:
        return samples.get(name, '"…"')
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, tuple):
        return "[]"
    return f'"{default}"' if isinstance(default, str) else str(default)
