"""`weft plan`: the plan alone, for a person to look at and edit."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from weft.cli import options, output
from weft.cli.options import Voice


@click.command()
@click.argument("goal")
@options.models
@options.fetching
@options.skills
@click.option("--skill", "skill", multiple=True, metavar="NAME", help="Use this skill, whatever the detector says.")
@click.option(
    "--file", "files", multiple=True, type=click.Path(path_type=Path), help="A file that belongs to the goal."
)
@click.option("--answer", "answers", multiple=True, metavar="TEXT", help="The answer to a question it asked.")
@click.option(
    "-o", "--output", "target", type=click.Path(path_type=Path), help="Write it here, as YAML or (.json) JSON."
)
@options.common
def plan(goal: str, workspace: Path, files: tuple[Path, ...], target: Path | None, **rest: Any) -> int:
    """Make a plan for GOAL and print it as YAML, without running it. `-` reads the goal from stdin.

    \b
    Examples:
      weft plan "Compare three caches" -o plan.yaml
      weft run --plan plan.yaml
      weft plan --json "Compare three caches"
    """
    from weft import planfile
    from weft.cli import pulling, reach
    from weft.cli.progress import progress
    from weft.goal import Goal
    from weft.models import provider
    from weft.run import Weft

    voice = Voice(rest.pop("as_json"), rest.pop("quiet"), rest.pop("verbose"))
    yes = rest.pop("yes")
    reach.writable(target)
    provider.preload()
    wanted = Goal(
        options.goal_text(goal),
        skills=rest.pop("skill"),
        files=tuple(path.absolute() for path in files),
        answers=rest.pop("answers"),
    )
    where = options.places(workspace)
    weft = Weft(workspace, options.settings(where, rest, quiet=voice.quiet).settings)

    pulling.offer(weft.models, yes=yes, quiet=voice.quiet)

    async def make() -> Any:
        async with weft:
            with progress(replace(voice, verbose=True)) as record:
                return await weft.plan(wanted, record=record)

    made = asyncio.run(make())
    if target is not None:
        target.write_text(planfile.dump(made, planfile.form_of(target), wanted.text), encoding="utf-8")
        output.say(f"The plan is in {target}; run it with: weft run --plan {target}")
    if voice.as_json:
        output.print_json(made.to_dict())
    elif target is None:
        output.print_text(planfile.dump(made, "yaml"))
    if made.clarification and not made.tasks:
        output.say(f"It needs to know: {made.clarification}\nAnswer with --answer TEXT")
        return 1
    return 0
