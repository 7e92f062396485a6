"""The classes of commands: groups that import their subcommands on use, and commands with grouped options."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from goalwright_skills.text.formatting import guess

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


# The headings of `--help` and the parameters below each, in order; other options are listed last.
_SECTIONS = {
    "Goal and files": (
        "run", "go_on", "conversation", "files", "plan_file", "recipe", "after", "answers", "review", "dry_run", "form",
        "begin", "use", "inputs", "cases", "variants", "repeat", "old", "free", "rounds", "max_lines", "description",
        "pairwise", "errors", "resume", "retry_errors", "rerun_changed", "limit", "shuffle", "dedupe",
    ),
    "Answers": ("approve", "deny", "edit", "answer", "approval_files"),
    "Skills and plan": ("skills", "skills_without", "skills_dir", "seed", "cache"),
    "Model and budget": (
        "model", "fallback", "judge", "max_cost", "max_tokens", "timeout", "fail_fast", "max_failures", "jobs",
        "max_calls", "rpm", "tpm",
    ),
    "Permissions": ("workspace_writes", "tools", "allow_web", "allow_approvals", "approve_all", "trust", "yes"),
    "Cluster": ("engine", "address", "workers", "slots", "drain", "allow_open_cluster"),
    "Checks": ("check", "min_pass", "no_worse", "max_cost_ratio"),
    "Output": ("target", "html", "apply", "as_json", "quiet", "verbose"),
}  # fmt: skip


class SectionedCommand(click.Command):
    """A command with many options, which `--help` groups under headings."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = {
            parameter.name: record
            for parameter in self.get_params(ctx)
            if isinstance(parameter, click.Option) and (record := parameter.get_help_record(ctx)) is not None
        }
        for heading, names in _SECTIONS.items():
            if section := [rows.pop(name) for name in names if name in rows]:
                with formatter.section(heading):
                    formatter.write_dl(section)
        with formatter.section("Other"):
            formatter.write_dl(list(rows.values()))
