"""Ask the user whether to trust a workspace's tools."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from weft.cli.view import output

if TYPE_CHECKING:
    from weft.settings.paths import Paths
    from weft.workspace.tools import WorkspaceTools


def trust_settings(where: Paths) -> None:
    """Trust a workspace's settings as they are now; call this before reading them."""
    from skills.programs.trust import Trust

    Trust(where.trust).trust_workspace(where.workspace)


def trust_tools(tools: WorkspaceTools, *, trust: bool, quiet: bool) -> None:
    """Trust the workspace's tools if `trust` is set or the user agrees; otherwise warn that they will not run."""
    if trust:
        tools.trust_all()
        return
    untrusted = tools.untrusted()
    if not untrusted:
        return
    names = ", ".join(sorted({row.name for row in untrusted}))
    folders = "\n  ".join(sorted({str(row.base_dir) for row in untrusted}))
    if sys.stdin.isatty() and output.is_terminal() and not quiet:
        output.say(f"This workspace has tools that you have not trusted yet ({names}):\n  {folders}")
        if click.confirm("Have you reviewed them, and may they run?", default=False, err=True):
            tools.trust_all()
        return
    if not quiet:
        output.say_warning(f"tools that are not trusted yet will not run: {names}; review them, then pass --trust")
