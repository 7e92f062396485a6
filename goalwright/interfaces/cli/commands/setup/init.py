"""`goalwright init` and `goalwright completion`: set up a workspace and the shell."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from goalwright.interfaces.cli import configuration, options
from goalwright.interfaces.cli.view import output
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from goalwright.interfaces.cli.view.output import OutputMode


_HEAD = """# Settings for goalwright in this folder. Every line is optional and shows the default, or an example.
# Flags override environment variables (GOALWRIGHT_…), these override this file, and this file overrides
# ~/.config/goalwright/config.toml.
"""
_EXAMPLE = "Describe in one sentence what the skill does and when to use it: for weekly status mails to the team."


@click.command()
@click.option("--skill", "skill", metavar="ID", help="Also create an example skill with this name.")
@options.here
@options.printing
def init(skill: str | None, workspace: Path, mode: OutputMode) -> int:
    """Create a commented goalwright.toml.

    Writes it into the current folder, which becomes a workspace. Existing files are never overwritten.

    \b
    Examples:
      goalwright init
      goalwright init --skill status-mails

    Exit status: 0 done, 2 goalwright.toml (without --skill) or the skill already exists.
    """
    from goalwright_skills import safe_files
    from goalwright_skills.manage import install

    folder = configuration.paths(workspace).workspace
    path = folder / "goalwright.toml"
    exists = os.path.lexists(path)
    if exists and not skill:
        raise InputError(f"{path} already exists; nothing was changed", hint="edit it, or move it away first")
    written = [install.add(folder, skill, _EXAMPLE)] if skill else []
    if not exists:
        safe_files.create(path, template(), below=folder)
        written.insert(0, path)
    elif not mode.quiet:
        output.say(f"{path} already exists; left unchanged")
    output.show(mode, {"written": [str(file) for file in written]}, "\n".join(f"wrote {file}" for file in written))
    return 0


def template() -> str:
    """Return a goalwright.toml with every setting explained and commented out."""
    from dataclasses import fields

    from goalwright.settings import skill_lists
    from goalwright.settings.settings import FLAGS_ONLY, Settings

    roles = ("decomposer", "task", "synthesis", "checker", "judge")
    shared = (
        setting for setting in fields(Settings) if not setting.metadata["own"]
    )  # a workspace cannot set the others
    elsewhere = {*roles, "models", *skill_lists.LISTS, *FLAGS_ONLY}
    settings = [setting for setting in shared if setting.name not in elsewhere]
    guarded = "; ignored here until you trust this workspace (goalwright run --trust)"
    lines = [
        f"# {setting.metadata['help']}{guarded if setting.metadata['guarded'] else ''}\n"
        f"# {setting.name} = {_toml(setting.name, setting.default)}\n"
        for setting in settings
    ]
    models = "".join(f'# {role} = "openai/gpt-6.1-sol"\n' for role in roles)
    named = '# Tasks of a plan may choose models by other names.\n# fast = "openai/gpt-6-luna"\n'
    lists = "".join(
        f"# {setting.name.removeprefix(skill_lists.PREFIX)} = []  # {setting.metadata['help']}"
        f"{guarded if setting.name == skill_lists.REQUIRE else ''}\n"
        for setting in fields(Settings)
        if setting.name in skill_lists.LISTS
    )
    tables = [f"# A model for one role only.\n# [models]\n{models}{named}", f"# Skills by name.\n# [skills]\n{lists}"]
    return "\n".join([_HEAD, *lines, *tables])


def _toml(name: str, default: Any) -> str:
    samples = {
        "model": '"openai/gpt-6.1-sol"',
        "max_cost": "1.00",
        "max_tokens": "100000",
        "timeout": "600",
        "cache": "7",
    }
    if default is None:
        return samples.get(name, '"…"')
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, tuple):
        return "[]"
    return f'"{default}"' if isinstance(default, str) else str(default)


_LINES = {
    "bash": ('eval "$(_GOALWRIGHT_COMPLETE=bash_source goalwright)"', ".bashrc"),
    "zsh": ('eval "$(_GOALWRIGHT_COMPLETE=zsh_source goalwright)"', ".zshrc"),
    "fish": ("_GOALWRIGHT_COMPLETE=fish_source goalwright | source", ".config/fish/completions/goalwright.fish"),
}


@click.command()
@click.argument("shell", required=False, type=click.Choice(list(_LINES)))
@click.option("--print", "only_print", is_flag=True, help="Print the line instead of installing it.")
def completion(shell: str | None, *, only_print: bool) -> int:
    """Install shell completion.

    Adds one line to the start-up file of SHELL (default: your shell).

    \b
    Examples:
      goalwright completion
      goalwright completion fish
      goalwright completion --print zsh

    Exit status: 0 done, 2 unknown shell.
    """
    name = shell or Path(os.environ.get("SHELL", "")).name
    if name not in _LINES:
        raise InputError(f"no completion for the shell {name!r}", hint=f"choose one of {', '.join(_LINES)}")
    line, file = _LINES[name]
    if only_print:
        output.print_text(line)
        return 0
    path = Path.home() / file
    path.parent.mkdir(parents=True, exist_ok=True)
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    if line not in text:
        newline = "" if not text or text.endswith("\n") else "\n"
        path.write_text(f"{text}{newline}{line}\n", encoding="utf-8")
    output.print_text(f"Completion is installed in {path}. Open a new {name} shell to use it.")
    return 0
