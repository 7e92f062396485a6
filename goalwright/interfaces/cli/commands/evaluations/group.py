"""`goalwright eval`: the group; without a subcommand it evaluates the cases that are named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli.lazy_group import LazyGroup

if TYPE_CHECKING:
    from collections.abc import Sequence

_SUBCOMMANDS = {
    "run": (
        "goalwright.interfaces.cli.commands.evaluations.run:run",
        "Run the cases of CASES, check each answer, and compare variants.",
    ),
    "show": (
        "goalwright.interfaces.cli.commands.evaluations.show:show",
        "Show the report of an evaluation again: by its id, a prefix of it, or `last`.",
    ),
    "score": (
        "goalwright.interfaces.cli.commands.evaluations.score:score",
        "Score recorded runs, each by the case that has its goal; no call is made unless a judge is named.",
    ),
}


class _RunsByDefault(LazyGroup):
    """A group whose command `run` can be left out."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, with_run(args))


def with_run(arguments: Sequence[str]) -> list[str]:
    """The arguments with `run` before them, unless they name a command or ask for help."""
    first = arguments[0] if arguments else "--help"
    return list(arguments) if first in (*_SUBCOMMANDS, "-h", "--help") else ["run", *arguments]


@click.group(cls=_RunsByDefault, subcommands=_SUBCOMMANDS)
def evaluation() -> None:
    """Check the answers of cases, and compare variants: skills, models, prompts and settings.

    CASES are files of JSON lines or YAML (`-`: stdin), or a skill's folder with evals/evals.json. The options are in
    `goalwright eval run --help`.

    \b
    Examples:
      goalwright eval cases.jsonl
      goalwright eval skills/pdf-forms
      goalwright eval cases.jsonl --variant without="--without pdf-forms" --variant with="--skill pdf-forms"
      goalwright eval cases.jsonl --check --min-pass .8
      goalwright eval show last
      goalwright eval score last --cases cases.jsonl
    """
