"""Command groups whose subcommands are imported only when they are used, so that `--help` stays fast."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from goalwright_skills.text.nearest import guess

if TYPE_CHECKING:
    from collections.abc import Mapping

_COMMANDS = "goalwright.interfaces.cli.commands"


class LazyGroup(click.Group):
    """A group whose `subcommands` map a name to a path below `commands` (`module:function`) and a summary."""

    def __init__(self, *args: Any, subcommands: Mapping[str, tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._subcommands = subcommands

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._subcommands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._subcommands:
            return None
        module, _, name = self._subcommands[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(f"{_COMMANDS}.{module}"), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; an unknown name is answered with the nearest one."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = guess(args[0], self._subcommands) if args else ""
            if not near or "did you mean" in error.message.lower():
                raise
            raise click.UsageError(f"{error.message.rstrip('.')}; did you mean {near!r}?", ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in self._subcommands.items()])
