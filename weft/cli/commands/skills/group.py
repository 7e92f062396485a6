"""`weft skills`: the group of commands that list, show, select, check and change skills."""

from __future__ import annotations

import click

from weft.cli.lazy_group import LazyGroup

_SUBCOMMANDS = {
    "add": ("weft.cli.commands.skills.add:add", "Create a minimal skill."),
    "call": ("weft.cli.commands.skills.call:call", "Run a tool by hand."),
    "check": ("weft.cli.commands.skills.check:check", "Check skills and tools for problems."),
    "compare": ("weft.cli.commands.skills.compare:compare", "Measure whether a skill, or a change of it, helps."),
    "delete": ("weft.cli.commands.skills.delete:delete", "Delete a skill or tool of the workspace."),
    "eval": ("weft.cli.commands.skills.evaluate:evaluate", "Measure how well labelled goals find their skills."),
    "files": ("weft.cli.commands.skills.files:files", "List the files of a skill."),
    "improve": ("weft.cli.commands.skills.improve:improve", "Have a model change a skill, behind gates."),
    "import": ("weft.cli.commands.skills.import_skill:import_skill", "Import skills from a folder, an archive or git."),
    "list": ("weft.cli.commands.skills.list:list_skills", "List the skills, strongest location first."),
    "new": ("weft.cli.commands.skills.new:new", "Create a skill, or a working tool to change."),
    "overlap": ("weft.cli.commands.skills.overlap:overlap", "Show skills that compete for the same goals."),
    "select": ("weft.cli.commands.skills.select:select", "Show which skills fit a goal, how well and why."),
    "show": ("weft.cli.commands.skills.show:show", "Show a skill as a task receives it."),
    "update": ("weft.cli.commands.skills.update:update", "Update skills that came from git repositories."),
    "why": ("weft.cli.commands.skills.why:why", "Show why a goal selects the skills that it does."),
}


@click.group(cls=LazyGroup, subcommands=_SUBCOMMANDS)
def skills() -> None:
    """List, show, select, check and change skills.

    A skill is a folder with a SKILL.md that says how to do something; a skill.yaml in it offers tools.

    \b
    Examples:
      weft skills list --all
      weft skills select "Write API documentation"
      weft skills why "Write API documentation"
      weft skills show cataloging-apis
      weft skills eval goals.jsonl
      weft skills add release-notes --description "Write release notes from a list of changes."
      weft skills import ~/Downloads/some-skill.zip
    """
