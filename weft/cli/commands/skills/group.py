"""`weft skills`: the group of commands that list, show, select, check and change skills."""

from __future__ import annotations

import click

from weft.cli.lazy_group import LazyGroup

_SUBCOMMANDS = {
    "add": ("weft.cli.commands.skills.add:add", "Create a minimal skill in .agents/skills/."),
    "call": (
        "weft.cli.commands.skills.call:call",
        "Run a tool and print its envelope, as a model would get it. `-` reads the arguments from stdin.",
    ),
    "check": ("weft.cli.commands.skills.check:check", "Check skills and tools as a good reviewer would."),
    "compare": (
        "weft.cli.commands.skills.compare:compare",
        "Compare answers without the skill NAME and with it, or with its old and its new version.",
    ),
    "delete": (
        "weft.cli.commands.skills.delete:delete",
        "Delete a skill in .agents/skills/, or a tool that `weft skills new` created, with its folder.",
    ),
    "eval": (
        "weft.cli.commands.skills.evaluate:evaluate",
        "Measure how well labelled goals find their skills, and say what to change for those that do not.",
    ),
    "files": ("weft.cli.commands.skills.files:files", "List the files of a skill with their sizes."),
    "improve": (
        "weft.cli.commands.skills.improve:improve",
        "Have a model change one place of the skill NAME so that more of its cases pass.",
    ),
    "import": (
        "weft.cli.commands.skills.import_skill:import_skill",
        "Import skills into .agents/skills/: from a folder, a .zip, a .tar.gz, a .skill file or a git repository.",
    ),
    "list": ("weft.cli.commands.skills.list:list_skills", "List the skills, strongest location first."),
    "new": (
        "weft.cli.commands.skills.new:new",
        "Create a skill in .agents/skills/, or a tool in skills/ that works and passes `weft skills check`.",
    ),
    "overlap": ("weft.cli.commands.skills.overlap:overlap", "Show pairs of skills that compete for the same goals."),
    "select": ("weft.cli.commands.skills.select:select", "Show which skills fit GOAL, how well and why."),
    "show": ("weft.cli.commands.skills.show:show", "Show a skill as a task receives it."),
    "update": ("weft.cli.commands.skills.update:update", "Update skills that were imported from git repositories."),
    "why": ("weft.cli.commands.skills.why:why", "Show why GOAL selects the skills that it does, and not others."),
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
