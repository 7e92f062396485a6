"""`goalwright skills`: the group of commands that list, show, select, check and change skills."""

from __future__ import annotations

import click

from goalwright.interfaces.cli.lazy_group import LazyGroup

_SUBCOMMANDS = {
    "add": ("goalwright.interfaces.cli.commands.skills.add:add", "Create a minimal skill."),
    "call": ("goalwright.interfaces.cli.commands.skills.call:call", "Run a tool by hand."),
    "check": ("goalwright.interfaces.cli.commands.skills.check:check", "Check skills and tools for problems."),
    "compare": (
        "goalwright.interfaces.cli.commands.skills.compare:compare",
        "Measure whether a skill, or a change of it, helps.",
    ),
    "delete": ("goalwright.interfaces.cli.commands.skills.delete:delete", "Delete a skill or tool of the workspace."),
    "eval": (
        "goalwright.interfaces.cli.commands.skills.evaluate:evaluate",
        "Measure how well labelled goals find their skills.",
    ),
    "files": ("goalwright.interfaces.cli.commands.skills.files:files", "List the files of a skill."),
    "improve": (
        "goalwright.interfaces.cli.commands.skills.improve:improve",
        "Have a model change a skill, behind gates.",
    ),
    "import": (
        "goalwright.interfaces.cli.commands.skills.import_skill:import_skill",
        "Import skills from a folder, an archive or git.",
    ),
    "list": (
        "goalwright.interfaces.cli.commands.skills.list:list_skills",
        "List the skills, strongest location first.",
    ),
    "new": ("goalwright.interfaces.cli.commands.skills.new:new", "Create a skill, or a working tool to change."),
    "overlap": (
        "goalwright.interfaces.cli.commands.skills.overlap:overlap",
        "Show skills that compete for the same goals.",
    ),
    "select": (
        "goalwright.interfaces.cli.commands.skills.select:select",
        "Show which skills fit a goal, how well and why.",
    ),
    "show": ("goalwright.interfaces.cli.commands.skills.show:show", "Show a skill as a task receives it."),
    "update": (
        "goalwright.interfaces.cli.commands.skills.update:update",
        "Update skills that came from git repositories.",
    ),
    "why": ("goalwright.interfaces.cli.commands.skills.why:why", "Show why a goal selects the skills that it does."),
}


@click.group(cls=LazyGroup, subcommands=_SUBCOMMANDS)
def skills() -> None:
    """List, show, select, check and change skills.

    A skill is a folder with a SKILL.md that says how to do something; a skill.yaml in it offers tools.

    \b
    Examples:
      goalwright skills list --all
      goalwright skills select "Write API documentation"
      goalwright skills why "Write API documentation"
      goalwright skills show cataloging-apis
      goalwright skills eval goals.jsonl
      goalwright skills add release-notes --description "Write release notes from a list of changes."
      goalwright skills import ~/Downloads/some-skill.zip
    """
