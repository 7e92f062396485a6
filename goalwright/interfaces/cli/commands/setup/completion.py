"""`goalwright completion`: install shell completion."""

from __future__ import annotations

import os
from pathlib import Path

import click

from goalwright.interfaces.cli.view import output
from goalwright_skills.errors import InputError

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
