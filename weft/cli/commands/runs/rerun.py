"""`weft rerun`: a part of a run anew, as a new run."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skills.errors import InputError
from weft.cli import execution, options
from weft.cli.view import output
from weft.cli.view.output_mode import OutputMode

if TYPE_CHECKING:
    from weft.runs.rerun import RerunPlan

_FORMS = {"--use": ("NAME=PATH", "code-review=drafts/code-review"), "--input": ("TASK=FILE", "survey=survey.md")}


@click.command(short_help="Run a part of a run anew, as a new run.")
@click.argument("run")
@click.option("--from", "begin", multiple=True, metavar="TASK", help="Execute this task and all that depends on it.")
@click.option("--use", "use", multiple=True, metavar="NAME=PATH", help="Use the skill at PATH in the place of NAME.")
@click.option(
    "--input", "inputs", multiple=True, metavar="TASK=FILE", help="Take TASK's output from a file, or stdin (-)."
)
@click.option("--dry-run", is_flag=True, help="Say what would be reused and what executed; make no call.")
@options.written()
@options.models
@options.journal
@options.common
def rerun(run: str, workspace: Path, target: Path | None, **rest: Any) -> int:
    """Run RUN again from a task on: what is upstream is reused, the rest is executed, with another model if you like.

    \b
    Examples:
      weft rerun last --from brief --model openai/gpt-4o
      weft rerun last --from survey --use cataloging-apis=drafts/cataloging-apis
      weft rerun last --input survey=survey.md --dry-run

    Exit status: as for `weft run`.
    """
    from weft.providers import litellm_model
    from weft.runs import records
    from weft.runs.runtime import Weft

    mode = OutputMode(rest.pop("as_json"), rest.pop("quiet"), rest.pop("verbose"))
    begin, dry = rest.pop("begin"), rest.pop("dry_run")
    use = {name: Path(path) for name, path in _pairs("--use", rest.pop("use")).items()}
    inputs = {task: _read(path) for task, path in _pairs("--input", rest.pop("inputs")).items()}
    if not begin and not inputs:
        raise InputError("nothing says where to begin", hint="name a task with --from; `weft trace show` lists them")
    execution.writable(target)
    where = options.paths(workspace)
    now = options.settings(where, rest, quiet=mode.quiet).settings
    store = records.kept(where, now)
    parent = records.begun(store, run, where)
    store.close()
    use = records.substitutes(parent) | use
    weft = Weft(workspace, records.settings_of(parent.settings, now, rest), use=use)
    division = weft.plan_rerun(parent.run_id, begin, inputs)
    if dry:
        weft.workspace.skills.active()  # says where --use names a skill that is not there
        asyncio.run(weft.close())
        return _preview(parent.run_id, division, mode)
    litellm_model.preload()
    run_anew = execution.run_with_progress(weft, mode, partial(weft.rerun, parent.run_id, division))
    return execution.run_to_exit(run_anew, execution.Ending(mode, workspace, target))


def _preview(parent: str, division: RerunPlan, mode: OutputMode) -> int:
    if mode.as_json:
        document = {"parent": parent, "reused": list(division.reused), "executed": list(division.executed)}
        output.print_json(document)
        return 0
    for task in division.plan.tasks:
        source = division.reused.get(task.id)
        output.print_text(f"reused    {task.id}  (from {source[1]})" if source else f"executed  {task.id}")
    return 0


def _pairs(flag: str, given: tuple[str, ...]) -> dict[str, str]:
    form, example = _FORMS[flag]
    pairs = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise InputError(f"{flag} {text}: it must have the form {form}", hint=f"such as {flag} {example}")
        pairs[name] = value
    return pairs


def _read(path: str) -> str:
    if path == "-":
        return options.stdin_text("--input")
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--input: {path} cannot be read: {error}", hint="name a text file") from error
