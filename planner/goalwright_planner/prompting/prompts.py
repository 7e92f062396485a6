"""Prompts: the agents defined in `seed/`, their templates, and the user's own versions of them.

A template is Jinja with `<<` and `>>` around variables, `<%` and `%>` around statements and `<#` and `#>` around
comments, so that JSON braces and a skill's own `{{…}}` need no escaping. It has a block for each message; a user's
template can inherit the others with `<% extends "seed/task.j2" %>`. Text from users, skills and models is passed in as
variables and never rendered as a template.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import BaseLoader, ChoiceLoader, PrefixLoader, StrictUndefined, TemplateNotFound, meta, nodes
from jinja2 import TemplateError as JinjaError
from jinja2.sandbox import SandboxedEnvironment

from goalwright_planner.errors import TemplateError
from goalwright_planner.model import Message
from goalwright_skills import untrusted_files
from goalwright_skills.format import safe_yaml
from goalwright_skills.text.formatting import guess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from jinja2 import Environment, Template

_PACKAGE = Path(__file__).parents[1]
# In a wheel, the templates are inside the package; in a checkout, in a folder beside it.
SEED = _PACKAGE / "seed" if (_PACKAGE / "seed").is_dir() else _PACKAGE.parents[1] / "seed"
_LARGEST = 1_000_000
_FIX = "fix the template, or delete it to use goalwright's own"


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent of `seed/agents.yaml`: `blocks` maps each message to its variables; `needs` lists required variables."""

    name: str
    template: str
    blocks: Mapping[str, tuple[str, ...]]
    needs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Layer:
    """A template with its syntax tree; a template that extends another one has two layers."""

    template: Template
    tree: nodes.Template

    @property
    def parent(self) -> str | None:
        extends = next(self.tree.find_all(nodes.Extends), None)
        return extends.template.as_const() if extends is not None else None

    def block(self, name: str) -> nodes.Block | None:
        return next((block for block in self.tree.find_all(nodes.Block) if block.name == name), None)


@dataclass(frozen=True, slots=True)
class _Body:
    """A block of a layer, with the variables that it uses."""

    layer: _Layer
    block: nodes.Block
    variables: set[str]


class TemplateFolders(BaseLoader):
    """Loads a template from the first folder that has it, as an untrusted file, since a replay needs no trust."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = list(folders)

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, Callable[[], bool]]:
        """Return a template's text, its path, and a check that it has not changed."""
        parts = template.split("/")
        if ".." in parts or any(os.sep in part for part in parts):
            raise TemplateNotFound(template)
        path = next((file for folder in self.folders if (file := folder.joinpath(*parts)).is_file()), None)
        if path is None:
            raise TemplateNotFound(template)
        text = _text(path)
        changed = path.stat().st_mtime
        return text, str(path), lambda: path.exists() and path.stat().st_mtime == changed


class Prompts:
    """Renders agents' messages; templates in the `overrides` folders precede the ones in `seed/`."""

    def __init__(self, overrides: Sequence[Path] = (), *, seed: Path = SEED) -> None:
        self._overrides, self._seed = list(overrides), seed
        self._folders = [*overrides, seed]
        self._agents = _agents(seed / "agents.yaml")
        own = TemplateFolders(self._folders)
        self._environment = SandboxedEnvironment(
            loader=ChoiceLoader([own, PrefixLoader({"seed": TemplateFolders([seed])})]),
            undefined=StrictUndefined,
            autoescape=False,
            trim_blocks=True,
            lstrip_blocks=True,
            variable_start_string="<<",
            variable_end_string=">>",
            block_start_string="<%",
            block_end_string="%>",
            comment_start_string="<#",
            comment_end_string="#>",
        )
        self._layers = cache(self._load)

    def render(self, agent: str, block: str, variables: Mapping[str, Any]) -> str:
        """Return a message of an agent, rendered from the block of that name."""
        first, *parents = self._layers(agent)
        context = first.template.new_context(dict(variables))
        for layer in parents:
            for name, function in layer.template.blocks.items():
                context.blocks.setdefault(name, []).append(function)
        try:
            return "".join(context.blocks[block][0](context)).strip()
        except (JinjaError, TypeError) as error:
            raise TemplateError(
                f"the template {self._where(agent)} cannot be rendered: {error}",
                hint=f"the variables here are: {', '.join(sorted(variables)) or 'none'}",
            ) from error

    def messages(self, agent: str, variables: Mapping[str, Any], block: str = "user") -> tuple[Message, ...]:
        """Return an agent's system message and the message of a block, without empty ones."""
        system = Message("system", self.render(agent, "system", variables))
        messages = system, Message("user", self.render(agent, block, variables))
        return tuple(message for message in messages if message.content)

    def check(self) -> None:
        """Raise if any template is missing, broken, lacks a required variable, or uses an unknown one."""
        self._check_all(self._agents, self.load)

    def check_overrides(self) -> None:
        """Check the users' own templates as `check` does."""
        self._check_all((agent for agent in self._agents if not self._is_own(agent)), self._layers)

    def _check_all(self, agents: Iterable[str], load: Callable[[str], tuple[_Layer, ...]]) -> None:
        faults: list[TemplateError] = []
        for agent in agents:
            try:
                load(agent)
            except TemplateError as error:
                faults.append(error)
        if faults:
            raise TemplateError("; ".join(fault.message for fault in faults), hint=faults[0].hint) from faults[0]

    def _is_own(self, agent: str) -> bool:
        """Whether an agent's template, and every template that it refers to, is goalwright's own."""
        if self._seed != SEED:
            return False
        folders = [folder for folder in self._overrides if _has_files(folder)]
        return not folders or not any((folder / name).is_file() for name in _own_names(agent) for folder in folders)

    def _load(self, agent: str) -> tuple[_Layer, ...]:
        return _own_layers(agent) if self._is_own(agent) else self.load(agent)

    def load(self, agent: str) -> tuple[_Layer, ...]:
        """Return the layers of an agent's template, read and checked."""
        layers = self.read(agent)
        self._check(self._agents[agent], layers)
        return layers

    def read(self, agent: str) -> tuple[_Layer, ...]:
        """Return the layers of an agent's template; raise if one is missing or broken."""
        definition = self._agents[agent]
        try:
            layers = tuple(self._chain(definition.template))
        except TemplateNotFound as error:
            raise TemplateError(
                f"there is no template {error.name!r} for the agent {agent!r}",
                hint=f"looked in: {', '.join(str(folder) for folder in self._folders)}",
            ) from error
        except (JinjaError, UnicodeDecodeError) as error:
            line = f", line {error.lineno}" if hasattr(error, "lineno") else ""
            file = getattr(error, "filename", None) or self._where(agent)  # it may be an included one
            raise TemplateError(f"the template {file}{line} is broken: {error}", hint=_FIX) from error
        return layers

    def _chain(self, name: str | None) -> Iterator[_Layer]:
        seen: set[str] = set()
        while name is not None and name not in seen:
            seen.add(name)
            template = self._environment.get_template(name)
            tree = self._environment.parse(_text(Path(template.filename or "")))
            layer = _Layer(template, tree)
            for other in meta.find_referenced_templates(tree):
                if other is not None:  # None is a name that is only known when it is rendered
                    self._environment.get_template(other)
            yield layer
            name = layer.parent

    def _check(self, agent: Agent, layers: Sequence[_Layer]) -> None:
        blocks = {name: _effective(name, layers) for name in agent.blocks}
        for name in (name for name, bodies in blocks.items() if not bodies):
            raise TemplateError(
                f"the template {self._where(agent.name)} lacks the block {name}",
                hint=f"write <% block {name} %>…<% endblock %>; goalwright's own version in {SEED} shows how",
            )
        for name, bodies in blocks.items():
            self._check_known(name, agent.blocks[name], bodies)
        used = {variable for bodies in blocks.values() for body in bodies for variable in body.variables}
        if missing := [name for name in agent.needs if name not in used]:
            names = ", ".join(f"<<{name}>>" for name in missing)
            raise TemplateError(
                f"the template {self._where(agent.name)} lacks {names}, which it needs",
                hint=f"put <<{missing[0]}>> where the text should go; goalwright's own version in {SEED} shows how",
            )

    def _check_known(self, block: str, known: Sequence[str], bodies: Sequence[_Body]) -> None:
        """Raise if a block uses unknown variables, mostly typos that would only fail when rendered."""
        always = {*known, *self._environment.globals, "super", "self"}
        unknown = [
            (body.layer.template.filename, _line(body.block, name), name)
            for body in bodies
            for name in sorted(body.variables - always - _guarded(body.block))
        ]
        if unknown:
            messages = (f"the template {file}, line {line}: there is no <<{name}>>" for file, line, name in unknown)
            near = guess(unknown[0][2], known)
            meant = f"did you mean <<{near}>>? " if near else ""
            variables = ", ".join(sorted(known)) or "none"
            raise TemplateError("; ".join(messages), hint=f"{meant}the variables of the block {block} are: {variables}")

    def _where(self, agent: str) -> str:
        name = self._agents[agent].template
        return str(next((folder / name for folder in self._folders if (folder / name).is_file()), name))


def _text(path: Path) -> str:
    try:
        return untrusted_files.read_text(path, _LARGEST, encoding="utf-8")
    except OSError as error:
        raise TemplateError(f"the template {path} cannot be read: {error.strerror}", hint=_FIX) from error


@cache
def _own() -> Prompts:
    return Prompts()


@cache
def _own_layers(agent: str) -> tuple[_Layer, ...]:
    """Return the layers of one of goalwright's own templates, compiled once per process."""
    return _own().read(agent)


@cache
def _own_names(agent: str) -> frozenset[str]:
    """Return the names of goalwright's own template of an agent, and of all templates that it refers to."""
    names, left = set[str](), [_own()._agents[agent].template]
    while left:
        if (name := left.pop()) not in names:
            names.add(name)
            tree = _own()._environment.parse(_text(SEED / name.removeprefix("seed/")))
            left += [other for other in meta.find_referenced_templates(tree) if other is not None]
    return frozenset(names)


def _has_files(folder: Path) -> bool:
    return folder.is_dir() and any(folder.iterdir())


def _effective(name: str, layers: Sequence[_Layer]) -> list[_Body]:
    """Return the block in effect, and the blocks that it reaches through super()."""
    bodies: list[_Body] = []
    for layer in layers:
        block = layer.block(name)
        if block is not None:
            bodies.append(_Body(layer, block, _variables(block)))
            if "super" not in bodies[-1].variables:
                break
    return bodies


def _line(block: nodes.Block, variable: str) -> int:
    """Return the line on which a block first uses a variable."""
    return min((name.lineno for name in block.find_all(nodes.Name) if name.name == variable), default=block.lineno)


def _guarded(block: nodes.Block) -> set[str]:
    """Return the variables that a block tests with `is defined` or gives a default, which may be missing."""
    tested = [test.node for test in block.find_all(nodes.Test) if test.name in ("defined", "undefined")]
    defaulted = [default.node for default in block.find_all(nodes.Filter) if default.name in ("default", "d")]
    return {node.name for node in (*tested, *defaulted) if isinstance(node, nodes.Name)}


def _variables(block: nodes.Block) -> set[str]:
    tree = nodes.Template(block.body)
    tree.environment = block.environment
    return meta.find_undeclared_variables(tree)


@cache
def _agents(path: Path) -> dict[str, Agent]:
    document = safe_yaml.load_own(path.read_text(encoding="utf-8"))
    return {
        name: Agent(
            name,
            row["template"],
            {block: tuple(variables) for block, variables in row["blocks"].items()},
            tuple(row["needs"]),
        )
        for name, row in document["agents"].items()
    }
