"""The workspace of a command that names none."""

from __future__ import annotations

from pathlib import Path

from goalwright.interfaces.cli.view import output
from goalwright.settings import find_workspace


def find(*, quiet: bool) -> Path:
    """The workspace that the current folder belongs to; said if it is another folder."""
    here = Path.cwd()
    found = find_workspace.find(here, Path.home())
    if found == here.resolve():
        return Path()
    if not quiet:
        output.say(f"Using the workspace {found} (to use the current folder: --workspace .)")
    return found
