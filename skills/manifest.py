"""A folder's `skill.yaml`: the executable tools it offers.

`parse` is pure on the text but for one question to the disk, whether an entry is there. A tool that cannot be
offered is left out with a problem that says why; its neighbours in the same file still count.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from skills.document import Document, DocumentError
from skills.parameter import Parameter, declared, fits, schema
from skills.skill import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

Runtime = Literal["python", "node", "go", "binary"]
RUNTIMES: tuple[str, ...] = get_args(Runtime)
FILE = "skill.yaml"
NAME = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)+")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
NAME_LIMIT = 64  # what providers take as a function's name
TIMEOUT = 30.0
TIMEOUT_LIMIT = 3_600.0
TOOLS_LIMIT = 200


@dataclass(frozen=True, slots=True)
class Example:
    """A call that the author shows: when one would make it, and with what."""

    scenario: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Docs:
    """When to use a tool and when not, for models and people."""

    when_to_use: tuple[str, ...] = ()
    when_not_to_use: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()


@dataclass(frozen=True, slots=True)
class Manifest:
    """One executable tool as its author declares it."""

    name: str
    description: str
    runtime: Runtime
    entry: str
    folder: Path
    line: int = 1
    parameters: tuple[Parameter, ...] = ()
    timeout: float = TIMEOUT
    env: tuple[str, ...] = ()
    network: bool = False
    writes: bool = False
    docs: Docs = field(default_factory=Docs)

    @property
    def path(self) -> Path:
        """The file that declares it."""
        return self.folder / FILE

    @property
    def entry_path(self) -> Path:
        """The program's file."""
        return self.folder / self.entry

    @property
    def schema(self) -> dict[str, Any]:
        """The parameters as a JSON schema of type object."""
        return schema(self.parameters)


def domain(folder: Path) -> str:
    """What the names of a folder's tools begin with."""
    return folder.name.replace("-", "_")


def read(folder: Path) -> tuple[list[Manifest], list[Problem]]:
    """The tools of a folder's `skill.yaml`; none and no problem where there is no such file."""
    path = folder / FILE
    try:
        return parse(path.read_text(encoding="utf-8-sig"), folder)
    except FileNotFoundError:
        return [], []
    except UnicodeDecodeError as error:
        return [], [Problem(path, 1, f"is not UTF-8 text ({error.reason})", "save it as UTF-8")]
    except OSError as error:
        return [], [Problem(path, 1, f"cannot be read ({error.strerror})", "check the file and its rights")]


def parse(text: str, folder: Path) -> tuple[list[Manifest], list[Problem]]:
    """All tools that the text declares for this folder, and everything that is wrong with it."""
    path = folder / FILE
    try:
        document = Document.parse(text)
    except DocumentError as error:
        return [], [Problem(path, error.line, error.what, error.remedy)]
    entries, problems = _entries(document, path)
    manifests: dict[str, Manifest] = {}
    for data, where in entries:
        manifest, faults = _Reader(data, document, where, folder).manifest()
        problems += faults
        if manifest is None:
            continue
        if manifest.name in manifests:
            what = f"declares {manifest.name} twice"
            problems.append(Problem(path, manifest.line, what, "give each tool its own name"))
            continue
        manifests[manifest.name] = manifest
    return list(manifests.values()), problems


Where = tuple[str | int, ...]


def _entries(document: Document, path: Path) -> tuple[list[tuple[dict[str, Any], Where]], list[Problem]]:
    """Each tool's own mapping and where it stands; keys beside `tools:` are defaults for each of them."""
    data = document.data
    if not isinstance(data, dict):
        remedy = "write name, description, runtime and entry as keys"
        return [], [Problem(path, 1, "is not a mapping", remedy)]
    if "tools" not in data:
        return [(data, ())], []
    tools = data["tools"]
    line = document.line(("tools",))
    if not isinstance(tools, list) or not tools:
        return [], [Problem(path, line, "tools is not a list of tools", "write each tool as `- name: …`")]
    if len(tools) > TOOLS_LIMIT:
        what = f"declares {len(tools)} tools"
        return [], [Problem(path, line, what, f"split it: {TOOLS_LIMIT} tools to a folder at most")]
    shared = {key: value for key, value in data.items() if key not in {"tools", "name"}}
    entries: list[tuple[dict[str, Any], Where]] = []
    problems: list[Problem] = []
    for index, tool in enumerate(tools):
        where: Where = ("tools", index)
        if isinstance(tool, dict):
            entries.append((shared | tool, where))
        else:
            what = f"tools[{index}] is not a mapping"
            problems.append(Problem(path, document.line(where), what, "write it as `- name: …`"))
    return entries, problems


class _Reader:
    """Reads one tool's mapping and gathers every fault on the way."""

    def __init__(self, data: dict[str, Any], document: Document, where: Where, folder: Path) -> None:
        self.data = data
        self.document = document
        self.where = where
        self.folder = folder
        self.problems: list[Problem] = []
        self.fatal = False

    def manifest(self) -> tuple[Manifest | None, list[Problem]]:
        """The tool, or None where it cannot be offered."""
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
        made = Manifest(
            name=name,
            description=description,
            runtime=runtime,
            entry=entry,
            folder=self.folder,
            line=self._line("name"),
            parameters=parameters,
            timeout=timeout,
            env=env,
            network=network,
            writes=writes,
            docs=docs,
        )
        return made, self.problems

    def _line(self, *keys: str | int) -> int:
        return self.document.line((*self.where, *keys))

    def _problem(self, keys: Sequence[str | int], what: str, remedy: str, *, fatal: bool = True) -> None:
        self.fatal = self.fatal or fatal
        self.problems.append(Problem(self.folder / FILE, self._line(*keys), what, remedy))

    def _text(self, key: str) -> str:
        value = self.data.get(key)
        if isinstance(value, str) and value.strip():
            return value.strip()
        what = f"has no {key}" if value is None or value == "" else f"{key} is not text: {value!r}"
        self._problem([key], f"{self._called()}{what}", f"write `{key}: …`")
        return ""

    def _called(self) -> str:
        name = self.data.get("name")
        return f"tool {name}: " if isinstance(name, str) else ""

    def _name(self) -> str:
        name = self._text("name")
        if not name:
            return name
        prefix = domain(self.folder) + "_"
        if not NAME.fullmatch(name) or len(name) > NAME_LIMIT:
            what = f"tool name {name!r} is not of the form <domain>_<action>"
            remedy = f"use lower-case letters, digits and _, {NAME_LIMIT} at most, such as {prefix}read"
            self._problem(["name"], what, remedy)
        elif not name.startswith(prefix):
            what = f"tool name {name!r} does not start with its folder's name, {prefix!r}"
            remedy = f"call it {prefix}{name.split('_', 1)[-1]} or rename the folder"
            self._problem(["name"], what, remedy)
        return name

    def _runtime(self) -> Runtime | None:
        value = self.data.get("runtime")
        for runtime in get_args(Runtime):
            if value == runtime:
                found: Runtime = runtime
                return found
        what = "has no runtime" if value is None else f"runtime {value!r} is unknown"
        self._problem(["runtime"], self._called() + what, f"write one of {', '.join(RUNTIMES)}")
        return None

    def _entry(self) -> str:
        entry = self._text("entry")
        if not entry:
            return entry
        path = self.folder / entry
        root = self.folder.resolve()
        if not path.resolve().is_relative_to(root):
            what = f"{self._called()}entry {entry!r} lies outside the tool's folder"
            self._problem(["entry"], what, "put the program into the folder")
        elif not path.is_file():
            what = f"{self._called()}entry {entry!r} is not there"
            self._problem(["entry"], what, "create the file or mend the name")
        return entry

    def _timeout(self) -> float:
        value = self.data.get("timeout", TIMEOUT)
        if fits(value, "number") and 0 < value <= TIMEOUT_LIMIT:
            return float(value)
        what = f"{self._called()}timeout {value!r} is no number of seconds"
        self._problem(["timeout"], what, f"write a number above 0 and up to {TIMEOUT_LIMIT:g}")
        return TIMEOUT

    def _flag(self, key: str) -> bool:
        value = self.data.get(key, False)
        if isinstance(value, bool):
            return value
        self._problem([key], f"{self._called()}{key} is {value!r}", f"write `{key}: true` or leave it out")
        return False

    def _env(self) -> tuple[str, ...]:
        value = self.data.get("env") or []
        if isinstance(value, list) and all(isinstance(n, str) and VARIABLE.fullmatch(n) for n in value):
            return tuple(value)
        what = f"{self._called()}env is not a list of variable names"
        self._problem(["env"], what, "write `env: [NAME, …]`; values stay outside the file")
        return ()

    def _parameters(self) -> tuple[Parameter, ...]:
        value = self.data.get("parameters") or []
        if not isinstance(value, list):
            what = f"{self._called()}parameters is not a list"
            self._problem(["parameters"], what, "write each one as `- name: …`")
            return ()
        found: dict[str, Parameter] = {}
        for index, item in enumerate(value):
            parameter = self._parameter(index, item)
            if parameter is not None and parameter.name in found:
                what = f"{self._called()}parameter {parameter.name!r} is declared twice"
                self._problem(["parameters", index], what, "keep one of them")
            elif parameter is not None:
                found[parameter.name] = parameter
        return tuple(found.values())

    def _parameter(self, index: int, item: Any) -> Parameter | None:
        keys: list[str | int] = ["parameters", index]
        name = item.get("name") if isinstance(item, dict) else None
        if not isinstance(name, str) or not PARAMETER.fullmatch(name):
            what = f"{self._called()}parameter {index + 1} has no usable name"
            self._problem(keys, what, "write `- name: …` with letters, digits and _")
            return None
        parameter, faults = declared(name, item)
        for what, remedy in faults:
            self._problem(keys, f"{self._called()}parameter {name!r} {what}", remedy)
        return parameter

    def _docs(self) -> Docs:
        value = self.data.get("docs") or {}
        if not isinstance(value, dict):
            what = f"{self._called()}docs is not a mapping"
            self._problem(["docs"], what, "write when_to_use, when_not_to_use and examples", fatal=False)
            return Docs()
        use, avoid = _sentences(value.get("when_to_use")), _sentences(value.get("when_not_to_use"))
        examples = value.get("examples") or []
        found: list[Example] = []
        for index, item in enumerate(examples if isinstance(examples, list) else [examples]):
            arguments = item.get("arguments") or {} if isinstance(item, dict) else None
            if not isinstance(arguments, dict):
                what = f"{self._called()}example {index + 1} has no arguments"
                remedy = "write `- scenario: …` with `arguments: {…}`"
                self._problem(["docs", "examples", index], what, remedy, fatal=False)
                continue
            found.append(Example(str(item.get("scenario", "")), arguments))
        return Docs(use, avoid, tuple(found))


def _sentences(value: Any) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value]
    return tuple(str(item).strip() for item in items if item is not None and str(item).strip())
