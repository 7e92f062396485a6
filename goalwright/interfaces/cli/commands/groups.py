"""The command groups `skills`, `trace`, `mcp`, `recipes` and `eval`; their commands are imported on use."""

from __future__ import annotations

import click

from goalwright.interfaces.cli.command_classes import LazyGroup

_SKILLS = {
    "list": ("skills.list:list_skills", "List the skills, strongest location first."),
    "show": ("skills.list:show", "Show a skill as a task receives it, or list its files."),
    "select": ("skills.select:select", "Show which skills fit a goal, how well and why."),
    "check": ("skills.check:check", "Check skills and tools for problems, or for overlap."),
    "eval": ("skills.evaluate:evaluate", "Measure how well labelled goals find their skills."),
    "new": ("skills.new:new", "Create a skill, or a working tool to change."),
    "import": ("skills.import_skills:import_skill", "Import skills from a folder, an archive or git."),
    "update": ("skills.import_skills:update", "Update skills that came from git repositories."),
    "delete": ("skills.new:delete", "Delete a skill or tool of the workspace."),
    "call": ("skills.call:call", "Run a tool by hand."),
    "compare": ("skills.compare:compare", "Measure whether a skill, or a change to it, helps."),
    "improve": ("skills.improve:improve", "Let a model improve a skill, and test the change."),
}
_TRACE = {
    "list": ("traces.list:list_runs", "List the runs of this workspace, newest first."),
    "show": ("traces.show:show", "Show a run: its graph, timing and critical path."),
    "stats": ("traces.list:stats", "Count runs, costs, failures and skills, day by day."),
    "tag": ("traces.tagging:tag", "Tag a run, or write a note about it."),
    "diff": ("traces.show:diff", "Compare two runs."),
    "export": ("traces.transfer:export", "Export runs as JSON lines, as an HTML page or to OpenTelemetry."),
    "import": ("traces.transfer:import_runs", "Import exported runs into this journal."),
    "prune": ("traces.prune:prune", "Delete runs and their artifacts."),
}
_MCP = {
    "list": ("mcp.servers:list_servers", "List the MCP servers and their states, without starting them."),
    "check": ("mcp.servers:check", "Connect to trusted servers and list their tools."),
    "refresh": ("mcp.servers:refresh", "Ask trusted servers for their tools again."),
    "login": ("mcp.login:login", "Log in to a server in your browser."),
    "logout": ("mcp.login:logout", "Forget the login to a server."),
    "import": ("mcp.servers:import_servers", "Copy the servers configured in Codex and VS Code."),
    "serve": ("mcp.serve:serve", "Serve this workspace to other agents, as an MCP server."),
}
_RECIPES = {
    "save": ("recipes:save", "Save the plan of a run as a recipe."),
    "list": ("recipes:list_recipes", "List the recipes, and whether their plans can run."),
    "show": ("recipes:show", "Show a recipe: its goal, parameters and plan."),
    "check": ("recipes:check", "Check recipes against the current skills."),
}
_EVAL = {
    "run": ("evaluations.run:run", "Run cases, check each answer, and compare variants."),
    "show": ("evaluations.reports:show", "Show the report of an evaluation again."),
    "score": ("evaluations.reports:score", "Score recorded runs without running them again."),
}


@click.group(cls=LazyGroup, subcommands=_SKILLS)
def skills() -> None:
    """List, show, select and manage skills.

    A skill is a folder with a SKILL.md that explains how to do something; a skill.yaml in it defines tools.

    \b
    Examples:
      goalwright skills list --all
      goalwright skills select "Write API documentation"
      goalwright skills select "Write API documentation" --why
      goalwright skills show cataloging-apis
      goalwright skills eval goals.jsonl
      goalwright skills new release-notes --description "Write release notes from a list of changes."
      goalwright skills import ~/Downloads/some-skill.zip
    """


@click.group(cls=LazyGroup, subcommands=_TRACE)
def trace() -> None:
    """Find, show, tag, compare, export, import and delete recorded runs.

    No model is called.

    \b
    Examples:
      goalwright trace list redis latency
      goalwright trace show last
      goalwright trace show last --task survey
      goalwright trace export last -o run.jsonl
    """


@click.group(cls=LazyGroup, subcommands=_MCP)
def mcp() -> None:
    """Use the tools of MCP servers, or serve goalwright as one.

    Servers are configured in .mcp.json in the workspace, and for all workspaces in mcp.json beside your config.toml.

    \b
    Examples:
      goalwright mcp list
      goalwright mcp check --trust
      goalwright mcp login github
      goalwright mcp import
      goalwright mcp serve
    """


@click.group(cls=LazyGroup, subcommands=_RECIPES)
def recipes() -> None:
    """Save good plans as recipes, and list, show and check them.

    A recipe is a file recipes/NAME.yaml in the workspace: a goal with parameters, its plan, and the skills it needs.
    Running it needs no planning call.

    \b
    Examples:
      goalwright recipes save last --name weekly-report
      goalwright run --recipe weekly-report team=design file=log.md
      goalwright recipes list
      goalwright recipes check
    """


class _RunsByDefault(LazyGroup):
    """A group whose command `run` can be left out."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        names_command = not args or args[0] in (*_EVAL, "-h", "--help")
        return super().parse_args(ctx, args if names_command else ["run", *args])


@click.group(cls=_RunsByDefault, subcommands=_EVAL)
def evaluation() -> None:
    """Check the answers of cases, and compare skills, models and settings.

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
