"""`weft completion`: shell completion in one command."""

from __future__ import annotations

import os
from pathlib import Path

import click

from skills.errors import InputError
from weft.cli.view import output

_LINES = {
    "bash": ('eval "$(_WEFT_COMPLETE=bash_source weft)"', ".bashrc"),
    "zsh": ('eval "$(_WEFT_COMPLETE=zsh_source weft)"', ".zshrc"),
    "fish": ("_WEFT_COMPLETE=fish_source weft | source", ".config/fish/completions/weft.fish"),
}


@click.command()
@click.argument("shell", required=False, type=click.Choice(list(_LINES)))
@click.option("--print", "only_print", is_flag=True, help="Print the line instead of installing it.")
def completion(shell: str | None, *, only_print: bool) -> int:
    """Install completion for SHELL (default: the one you use), by one line in its start-up file.

    \b
    Examples:
      weft completion
      weft completion fish
    """
    name = shell or Path(os.environ.get("SHELL", "")).name
    if name not in _LINES:
        raise InputError(f"completion is not known for the shell {name!r}", hint=f"name one of {', '.join(_LINES)}")
    text, place = _LINES[name]
    if only_print:
        output.print_text(text)
        return 0
    path = Path.home() / place
    path.parent.mkdir(parents=True, exist_ok=True)
    present = path.read_text(encoding="utf-8") if path.exists() else ""
    if text not in present:
        before = "" if not present or present.endswith("\n") else "\n"
        path.write_text(f"{present}{before}{text}\n", encoding="utf-8")
    output.print_text(f"Completion is set up in {path}; open a new {name} to use it.")
    return 0
