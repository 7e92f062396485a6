"""`goalwright recipes`: save the plan of a run as a recipe, and list, show and check recipes."""

from __future__ import annotations

import asyncio
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import configuration, options
from goalwright.interfaces.cli.dialogs import recipe_trust, terminal
from goalwright.interfaces.cli.hints import hint_for
from goalwright.interfaces.cli.view import output
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright.runs.recipes.parameters import RecipeSource
    from goalwright.runs.recipes.recipe import RecipeParameter
    from goalwright.runs.recipes.workspace_recipes import WorkspaceRecipes
    from goalwright.runs.runtime import Goalwright


_EXAMPLE = '--parameter team="sales team"'


@click.command()
@click.argument("run")
@click.option("--name", required=True, metavar="NAME", help="Name of the recipe: a-z, 0-9 and -.")
@click.option(
    "--parameter",
    "named",
    multiple=True,
    metavar="NAME=TEXT",
    help="Words of the goal that become a parameter (repeatable).",
)
@click.option("--replace", "replaced", is_flag=True, help="Replace a recipe of this name.")
@options.journal
@options.common
def save(
    run: str,
    name: str,
    named: tuple[str, ...],
    workspace: Path,
    flags: SettingFlags,
    mode: OutputMode,
    *,
    replaced: bool,
) -> int:
    """Save the plan of a run as a recipe.

    RUN is a run's id, a prefix of it, or `last`. Words of the goal that occur in the plan's instructions, and attached
    files, become parameters. At a terminal you confirm them; elsewhere they are used and printed.

    \b
    Examples:
      goalwright recipes save last --name weekly-report
      goalwright recipes save 20261115T0213 --name release-notes --parameter version=1.2

    Exit status: 0 saved, 2 no such run, no plan in it, or a parameter that occurs nowhere.
    """
    from goalwright.runs.recipes import parameters as recipe_parameters

    with _runtime(workspace, run, flags) as (goalwright, run_id):
        source = goalwright.recipe_source(run_id)
        words = recipe_trust.pairs(named, _EXAMPLE)
        parameters = recipe_parameters.named_parameters(words, source, recipe_parameters.found_parameters(source))
        if terminal.can_ask() and not (mode.as_json or mode.quiet):
            parameters = _confirmed(parameters, source)
        file = goalwright.recipes.save(name, source, parameters, replaced=replaced)
        besides = recipe_parameters.words_beyond_goal(source)
    if mode.as_json:
        output.print_json({"name": name, "path": str(file.path), **(file.recipe.to_dict() if file.recipe else {})})
        return 0
    output.print_text(f"{file.path}\n  {file.goal}")
    for parameter in parameters:
        output.print_text(f"  {_parameter_line(parameter)}")
    if besides and not mode.quiet:
        output.say_warning(
            f"the plan has words that the goal lacks, and keeps them with other values: {', '.join(besides)}"
        )
    if not mode.quiet:
        values = "".join(f" {parameter.name}=…" for parameter in parameters)
        output.say(f"Use it with: goalwright run --recipe {name}{values}")
    return 0


@contextmanager
def _runtime(workspace: Path, run: str, flags: SettingFlags) -> Iterator[tuple[Goalwright, str]]:
    """Yield a runtime and the run's id; creates no journal."""
    from goalwright.runs.runtime import Goalwright
    from goalwright.runs.stored import records

    where, settings = configuration.journal_settings(workspace, flags)
    with closing(records.recorded_runs(where, settings)) as store:
        run_id = store.find(run).run_id
    goalwright = Goalwright(workspace, settings)
    try:
        yield goalwright, run_id
    finally:
        asyncio.run(goalwright.close())


def _confirmed(parameters: Sequence[RecipeParameter], source: RecipeSource) -> list[RecipeParameter]:
    """Return the parameters as the user confirms, renames or adds them."""
    from goalwright.runs.recipes import parameters as recipe_parameters

    output.say(f"The goal: {source.goal}")
    kept: list[RecipeParameter] = []
    for number, parameter in enumerate(parameters, 1):
        others = {other.name for other in (*kept, *parameters[number:])}
        if name := _asked_name(parameter, others):
            kept.append(replace(parameter, name=name))
    while text := click.prompt("Another, as NAME=TEXT (empty: none)", default="", show_default=False, err=True).strip():
        try:
            kept = recipe_parameters.named_parameters(recipe_trust.pairs([text], _EXAMPLE), source, kept)
        except InputError as error:
            output.say(f"{error.message}; {hint_for(error)}")
    return kept


def _asked_name(parameter: RecipeParameter, others: Collection[str]) -> str | None:
    """Ask for the name of a parameter until it is valid; None if the user declines it."""
    from goalwright.runs.recipes.recipe import name_fault

    question = f"{parameter.default!r} is the parameter {parameter.name!r} ([y]es, [n]o, or another name)"
    while True:
        answer: str = click.prompt(question, default="y", err=True).strip()
        if answer.lower() in ("n", "no"):
            return None
        name = parameter.name if answer.lower() in ("y", "yes") else answer
        fault = f"there is another parameter {name!r}" if name in others else name_fault(name)
        if not fault:
            return name
        output.say(f"{fault}; give another name")


@click.command("list")
@options.any_setting
@options.common
def list_recipes(workspace: Path, flags: SettingFlags, mode: OutputMode) -> int:
    """List the recipes, and whether their plans can run.

    \b
    Examples:
      goalwright recipes list
      goalwright recipes list --json
    """
    rows = _open_recipes(workspace, flags, quiet=mode.quiet).rows()
    if mode.as_json:
        output.print_json([row.to_dict() for row in rows])
        return 0
    for row in rows:
        output.print_text(f"{row.file.name}  {row.file.goal}" + ("" if row.ok else f"  ({row.reason})"))
    if not rows and not mode.quiet:
        output.say("There are no recipes. Save the plan of a run: goalwright recipes save last --name NAME")
    return 0


@click.command()
@click.argument("name")
@options.any_setting
@options.common
def show(name: str, workspace: Path, flags: SettingFlags, mode: OutputMode) -> int:
    """Show a recipe: its goal, parameters and plan.

    \b
    Examples:
      goalwright recipes show weekly-report
      goalwright recipes show weekly-report --json

    Exit status: 0 done, 2 no such recipe.
    """
    from goalwright_skills.format import safe_yaml

    row = _open_recipes(workspace, flags, quiet=mode.quiet).row(name)
    recipe = row.file.recipe
    document = recipe.to_dict() if recipe else {}
    if mode.as_json:
        output.print_json({"name": name, **document, "ok": row.ok, "reason": row.reason or None})
        return 0
    output.print_text(f"{name}: {row.file.goal}")
    for parameter in recipe.parameters if recipe else ():
        output.print_text(f"  {_parameter_line(parameter)}")
    output.print_text(f"\n{safe_yaml.dump({'plan': document.get('plan', {})})}".rstrip())
    if not row.ok:
        planned = row.check is not None and row.check.plan is None
        effect = "its goal would be planned" if planned else "it cannot be used"
        output.say_warning(f"{effect}: {row.reason}")
    for warning in row.check.warnings if row.check else ():
        output.say_warning(warning)
    return 0


@click.command()
@click.argument("names", nargs=-1)
@options.any_setting
@options.common
def check(names: tuple[str, ...], workspace: Path, flags: SettingFlags, mode: OutputMode) -> int:
    """Check recipes against the current skills.

    Without NAMES, all recipes are checked. An unreadable recipe, a missing skill, a plan that cannot run and a default
    file outside the workspace are errors. A changed skill and a missing default file are warnings.

    \b
    Examples:
      goalwright recipes check
      goalwright recipes check weekly-report --json

    Exit status: 0 all recipes can run, 1 one cannot, 2 no such recipe.
    """
    rows = _open_recipes(workspace, flags, quiet=mode.quiet).checked(names)
    if mode.as_json:
        warnings = [list(row.check.warnings) if row.check else [] for row in rows]
        output.print_json([row.to_dict() | {"warnings": texts} for row, texts in zip(rows, warnings, strict=True)])
    else:
        for row in rows:
            texts = row.check.warnings if row.check else ()
            output.print_text(f"{row.file.name}: {row.reason or '; '.join(texts) or 'ok'}")
    return 0 if all(row.ok for row in rows) else 1


def _open_recipes(workspace: Path, flags: SettingFlags, *, quiet: bool) -> WorkspaceRecipes:
    """Return the recipes of a workspace."""
    from goalwright.runs.recipes.workspace_recipes import WorkspaceRecipes
    from goalwright.workspace.workspace import Workspace

    where = configuration.paths(workspace)
    return WorkspaceRecipes(Workspace(where, configuration.settings(where, flags, quiet=quiet).settings))


def _parameter_line(parameter: RecipeParameter) -> str:
    """Describe a parameter: name, type, default and description."""
    default = "required" if parameter.default is None else f"default: {parameter.default}"
    choices = f" of {', '.join(parameter.choices)}" if parameter.choices else ""
    description = f", {parameter.description}" if parameter.description else ""
    return f"{parameter.name} ({parameter.type}{choices}; {default}{description})"
