"""Prompts: the agents defined in `seed/`, their templates, and the user's own versions of them.

A template is Jinja with `<<` and `>>` around variables, `<%` and `%>` around statements and `<#` and `#>` around
comments, so that JSON braces and a skill's own `{{…}}` stand as they are. It has a block for each message it makes.
What comes from users, skills and models goes in as a variable's value and is never itself read as a template.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from jinja2 import FileSystemLoader, StrictUndefined, Template, TemplateNotFound, UndefinedError, meta
from jinja2 import TemplateError as JinjaError
from jinja2.sandbox import SandboxedEnvironment

from planner.errors import TemplateError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SEED = Path(__file__).parent.parent / "seed"


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent as `seed/agents.yaml` defines it: its template, and the variables it cannot do without."""

    name: str
    template: str
    needs: tuple[str, ...]
    blocks: tuple[str, ...]


class Prompts:
    """Renders agents' messages; templates in the folders given come before those in `seed/`."""

    def __init__(self, overrides: Sequence[Path] = (), *, seed: Path = SEED) -> None:
        self._folders = [*overrides, seed]
        self._agents = _agents(seed / "agents.yaml")
        self._environment = SandboxedEnvironment(
            loader=FileSystemLoader([str(folder) for folder in self._folders]),
            undefined=StrictUndefined,
            autoescape=False,
            keep_trailing_newline=False,
            trim_blocks=True,
            lstrip_blocks=True,
            variable_start_string="<<",
            variable_end_string=">>",
            block_start_string="<%",
            block_end_string="%>",
            comment_start_string="<#",
            comment_end_string="#>",
        )
        self._template = cache(self._load)

    def render(self, agent: str, block: str, variables: Mapping[str, Any]) -> str:
        """One message of an agent, from the block of that name in its template."""
        definition = self._agents[agent]
        template = self._template(agent)
        try:
            context = template.new_context(dict(variables))
            return "".join(template.blocks[block](context)).strip()
        except UndefinedError as error:
            known = ", ".join(sorted(variables))
            raise TemplateError(
                f"the template {self._where(definition)} uses a variable that does not exist: {error.message}",
                hint=f"the variables here are: {known}",
            ) from error
        except (JinjaError, TypeError) as error:
            raise TemplateError(
                f"the template {self._where(definition)} cannot be rendered: {error}",
                hint="mend the template, or delete it to use the one that weft ships",
            ) from error

    def _load(self, agent: str) -> Template:
        definition = self._agents[agent]
        try:
            template = self._environment.get_template(definition.template)
            source = Path(template.filename or "").read_text(encoding="utf-8")
            used = meta.find_undeclared_variables(self._environment.parse(source))
        except TemplateNotFound as error:
            raise TemplateError(
                f"there is no template {error.name!r} for the agent {agent!r}",
                hint=f"looked in: {', '.join(str(folder) for folder in self._folders)}",
            ) from error
        except (JinjaError, UnicodeDecodeError) as error:
            line = f", line {error.lineno}" if hasattr(error, "lineno") else ""
            raise TemplateError(
                f"the template {self._where(definition)}{line} is broken: {error}",
                hint="mend the template, or delete it to use the one that weft ships",
            ) from error
        self._check(definition, template, used)
        return template

    def _check(self, agent: Agent, template: Template, used: set[str]) -> None:
        blocks = [block for block in agent.blocks if block not in template.blocks]
        extends = "<% extends" in Path(template.filename or "").read_text(encoding="utf-8")
        needs = [] if extends else [name for name in agent.needs if name not in used]
        if blocks and not extends:
            raise TemplateError(
                f"the template {self._where(agent)} lacks the block {', '.join(blocks)}",
                hint=f"write <% block {blocks[0]} %>…<% endblock %>; weft's own version in {SEED} shows how",
            )
        if needs:
            raise TemplateError(
                f"the template {self._where(agent)} lacks {', '.join(f'<<{name}>>' for name in needs)}, which it needs",
                hint=f"put <<{needs[0]}>> where the text should stand; weft's own version in {SEED} shows how",
            )

    def _where(self, agent: Agent) -> str:
        folders = (folder / agent.template for folder in self._folders)
        return str(next((path for path in folders if path.is_file()), agent.template))


@cache
def _agents(path: Path) -> dict[str, Agent]:
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {
        name: Agent(name, row["template"], tuple(row.get("needs", ())), tuple(row.get("blocks", ())))
        for name, row in document["agents"].items()
    }
