"""Validates one tool in a `skill.yaml` key by key and collects all its problems."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from goalwright_skills.programs.environment import GRANTS, is_provider_key, is_secret_name
from goalwright_skills.programs.manifest import (
    FILE,
    RUNTIMES,
    TIMEOUT,
    Docs,
    Manifest,
    Runtime,
    domain,
)
from goalwright_skills.skill import Problem
from goalwright_skills.tools.parameter import Parameter, declared, fits
from goalwright_skills.tools.tool import NAME, NAME_LIMIT, RESERVED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright_skills.format.yaml_lines import Spot

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
TIMEOUT_LIMIT = 3_600.0
RULES = {key: f"manifest-{key}" for key in ("name", "description", "runtime", "entry")}
RULES["parameters"] = "manifest-parameter"


class Declaration:
    """The declaration of one tool in a `skill.yaml`, and its problems."""

    def __init__(self, data: dict[str, Any], spot: Spot, folder: Path) -> None:
        self.data = data
        self.spot = spot
        self.folder = folder
        self.problems: list[Problem] = []
        self.fatal = False

    def manifest(self) -> tuple[Manifest | None, list[Problem]]:
        """Return the tool, or None if it cannot be offered, and its problems."""
        name = self._name()
        description = self._text("description")
        runtime = self._runtime()
        entry = self._entry()
        parameters = self._parameters()
        timeout = self._timeout()
        env = self._env()
        network, writes = self._flag("network"), self._flag("writes")
        docs = self._docs()
        if self.fatal or runtime is None:
            return None, self.problems
        manifest = Manifest(
            name=name,
            description=description,
            runtime=runtime,
            entry=entry,
            folder=self.folder,
            parameters=parameters,
            timeout=timeout,
            env=env,
            network=network,
            writes=writes,
            docs=docs,
            spot=self.spot,
        )
        return manifest, self.problems

    def _problem(self, keys: Sequence[str | int], problem: str, remedy: str, *, fatal: bool = True) -> None:
        self.fatal = self.fatal or fatal
        rule = RULES.get(str(keys[0]), "manifest-form")
        line = self.spot.line(*keys)
        self.problems.append(Problem(self.folder / FILE, line, problem, remedy, rule, self._declared_name()))

    def _text(self, key: str) -> str:
        value = self.data.get(key)
        if isinstance(value, str) and value.strip():
            return value.strip()
        problem = f"has no {key}" if value is None or value == "" else f"{key} is not text: {value!r}"
        self._problem([key], f"{self._prefix()}{problem}", f"write `{key}: …`")
        return ""

    def _declared_name(self) -> str:
        name = self.data.get("name")
        return name.strip() if isinstance(name, str) else ""

    def _prefix(self) -> str:
        name = self._declared_name()
        return f"tool {name}: " if name else ""

    def _name(self) -> str:
        name = self._text("name")
        if not name:
            return name
        prefix = domain(self.folder) + "_"
        if not NAME.fullmatch(name) or len(name) > NAME_LIMIT:
            problem = f"tool name {name!r} does not have the form <domain>_<action>"
            example = prefix if NAME.fullmatch(prefix + "read") else "excel_"
            remedy = f"use lower-case letters, digits and _, at most {NAME_LIMIT}, such as {example}read"
            self._problem(["name"], problem, remedy)
        elif not name.startswith(prefix):
            problem = f"tool name {name!r} does not start with its folder's name, {prefix!r}"
            self._problem(["name"], problem, self._rename_remedy(name, prefix))
        elif name in RESERVED:
            problem = f"tool name {name!r} is the name of a built-in tool"
            self._problem(["name"], problem, f"call it, for example, {prefix}own_{name.rpartition('_')[2]}")
        return name

    def _rename_remedy(self, name: str, prefix: str) -> str:
        """Return how to rename the tool, or its folder if the folder's name is not a valid prefix, like `Excel`."""
        if not NAME.fullmatch(prefix + "read"):
            folder = name.rpartition("_")[0].replace("_", "-")
            return f"rename the folder to {folder}: lower-case letters, digits and - only"
        return f"call it {prefix}{name.split('_', 1)[-1]} or rename the folder"

    def _runtime(self) -> Runtime | None:
        value = self.data.get("runtime")
        for runtime in get_args(Runtime):
            if value == runtime:
                known: Runtime = runtime
                return known
        problem = "has no runtime" if value is None else f"runtime {value!r} is unknown"
        self._problem(["runtime"], self._prefix() + problem, f"write one of {', '.join(RUNTIMES)}")
        return None

    def _entry(self) -> str:
        entry = self._text("entry")
        if not entry:
            return entry
        path = self.folder / entry
        root = self.folder.resolve()
        if not path.resolve().is_relative_to(root):
            problem = f"{self._prefix()}entry {entry!r} is outside the tool's folder"
            self._problem(["entry"], problem, "move the program into the folder")
        elif _in_git(Path(entry)) or _in_git(path.resolve()):
            problem = f"{self._prefix()}entry {entry!r} is in a .git folder"
            self._problem(["entry"], problem, "move the program out of it, into the tool's folder")
        elif not path.is_file():
            problem = f"{self._prefix()}entry {entry!r} does not exist"
            self._problem(["entry"], problem, "create the file or correct the name")
        return entry

    def _timeout(self) -> float:
        value = self.data.get("timeout", TIMEOUT)
        if fits(value, "number") and 0 < value <= TIMEOUT_LIMIT:
            return float(value)
        problem = f"{self._prefix()}timeout {value!r} is not a valid number of seconds"
        self._problem(["timeout"], problem, f"write a number above 0 and up to {TIMEOUT_LIMIT:g}")
        return TIMEOUT

    def _flag(self, key: str) -> bool:
        value = self.data.get(key, False)
        if isinstance(value, bool):
            return value
        self._problem([key], f"{self._prefix()}{key} is {value!r}", f"write `{key}: true` or leave it out")
        return False

    def _env(self) -> tuple[str, ...]:
        value = self.data.get("env") or []
        if isinstance(value, list) and all(isinstance(n, str) and VARIABLE.fullmatch(n) for n in value):
            for name in filter(is_secret_name, value):
                own = not is_provider_key(name)
                kind = f"a secret, which tools get only if {GRANTS} lists it" if own else "a model provider's key"
                remedy = (
                    f"set {GRANTS}={name} where goalwright runs"
                    if own
                    else "use a variable with another name for the tool"
                )
                problem = f"{self._prefix()}env names {name}, {kind}{'' if own else ', which tools never get'}"
                self._problem(["env"], problem, remedy, fatal=False)
            return tuple(value)
        problem = f"{self._prefix()}env is not a list of variable names"
        self._problem(["env"], problem, "write `env: [NAME, …]`; values stay outside the file")
        return ()

    def _parameters(self) -> tuple[Parameter, ...]:
        value = self.data.get("parameters") or []
        if not isinstance(value, list):
            problem = f"{self._prefix()}parameters is not a list"
            self._problem(["parameters"], problem, "write each one as `- name: …`")
            return ()
        parameters: dict[str, Parameter] = {}
        for index, item in enumerate(value):
            parameter = self._parameter(index, item)
            if parameter is not None and parameter.name in parameters:
                problem = f"{self._prefix()}parameter {parameter.name!r} is declared twice"
                self._problem(["parameters", index], problem, "keep one of them")
            elif parameter is not None:
                parameters[parameter.name] = parameter
        return tuple(parameters.values())

    def _parameter(self, index: int, item: Any) -> Parameter | None:
        keys: list[str | int] = ["parameters", index]
        name = item.get("name") if isinstance(item, dict) else None
        if not isinstance(name, str) or not PARAMETER.fullmatch(name):
            problem = f"{self._prefix()}parameter {index + 1} has no usable name"
            self._problem(keys, problem, "write `- name: …` with letters, digits and _")
            return None
        parameter, faults = declared(name, item)
        for fault, remedy in faults:
            self._problem(keys, f"{self._prefix()}parameter {name!r} {fault}", remedy)
        return parameter

    def _docs(self) -> Docs:
        value = self.data.get("docs") or {}
        if not isinstance(value, dict):
            problem = f"{self._prefix()}docs is not a mapping"
            self._problem(["docs"], problem, "write when_to_use, when_not_to_use and examples", fatal=False)
            return Docs()
        use, avoid = _sentences(value.get("when_to_use")), _sentences(value.get("when_not_to_use"))
        examples = value.get("examples") or []
        calls: list[dict[str, Any]] = []
        for index, item in enumerate(examples if isinstance(examples, list) else [examples]):
            arguments = item.get("arguments") or {} if isinstance(item, dict) else None
            if not isinstance(arguments, dict):
                problem = f"{self._prefix()}example {index + 1} has no arguments"
                remedy = "write `- scenario: …` with `arguments: {…}`"
                self._problem(["docs", "examples", index], problem, remedy, fatal=False)
                continue
            calls.append(arguments)
        return Docs(use, avoid, tuple(calls))


def _in_git(path: Path) -> bool:
    """Return whether a path contains a `.git` folder; some file systems ignore case."""
    return any(part.rstrip(". ").lower() == ".git" for part in path.parts)


def _sentences(value: Any) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value]
    return tuple(str(item).strip() for item in items if item is not None and str(item).strip())
