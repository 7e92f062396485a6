"""Recipe files: `<workspace>/recipes/NAME.yaml`. They may be untrusted, so every read is bounded."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from goalwright.runs.recipes.recipe import (
    LONGEST_NAME,
    NAME,
    NoRecipe,
    Recipe,
    RecipeExists,
    is_like_recipe,
    read_recipe,
    shape_faults,
)
from goalwright_skills import safe_files, untrusted_files
from goalwright_skills.errors import InputError
from goalwright_skills.format import safe_yaml
from goalwright_skills.format.plain_yaml import Malformed
from goalwright_skills.text.formatting import known_are, shorten
from goalwright_skills.text.untrusted import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

FOLDER = "recipes"
SUFFIX = ".yaml"
MOST_FILES = 1_000
LARGEST = 1_000_000
LONGEST_REASON = 1_000
MOST_BYTES = 20_000_000  # of all files together

# A file that cannot be read, or that has only a goal or only a plan, may be a recipe that an edit has broken.
Shape = Literal["recipe", "perhaps", "other"]


@dataclass(frozen=True, slots=True)
class RecipeFile:
    """A file in the recipes folder: its recipe, or the reason why it cannot be read, and the hash of its bytes."""

    name: str
    path: Path
    recipe: Recipe | None
    goal: str = ""
    reason: str = ""
    sha256: str = ""
    shape: Shape = "recipe"


def path_of(workspace: Path, name: str) -> Path:
    """Return the path of a recipe; raises if the name is invalid."""
    if not NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        raise NoRecipe(
            f"{name[:80]!r} is not a valid name for a recipe",
            hint=f"use a-z, 0-9 and -, {LONGEST_NAME} characters at most, such as weekly-report",
        )
    return workspace / FOLDER / f"{name}{SUFFIX}"


def read(workspace: Path, name: str) -> RecipeFile:
    """Read the recipe of a name; raises NoRecipe if it is missing or cannot be read."""
    file = find(workspace, name)
    if file.recipe is None:
        raise NoRecipe(file.reason, hint=f"fix {file.path}, or save it again")
    return file


def find(workspace: Path, name: str) -> RecipeFile:
    """Return the file of a recipe, readable or not; raises NoRecipe if it is missing."""
    path = path_of(workspace, name)
    if not os.path.lexists(path):
        names = [file.name for file in read_all(workspace)]
        raise NoRecipe(
            f"there is no recipe {name!r}; {known_are(name, names)}",
            hint="`goalwright recipes save` makes one from a run",
        )
    return _read(path)


def read_all(workspace: Path) -> list[RecipeFile]:
    """Return the recipes of a workspace by name, without files of another shape and files beyond the bounds."""
    return [file for file in _files(workspace) if file.shape == "recipe"]


def find_all(workspace: Path) -> list[RecipeFile]:
    """Return the recipes of a workspace, and the files that may be recipes that an edit has broken."""
    return [file for file in _files(workspace) if file.shape != "other"]


def _files(workspace: Path) -> list[RecipeFile]:
    try:
        with os.scandir(workspace / FOLDER) as entries:
            names = sorted(entry.name for _, entry in zip(range(MOST_FILES * 10), entries, strict=False))
    except OSError:
        return []
    named = [name for name in names if name.endswith(SUFFIX) and NAME.fullmatch(name.removesuffix(SUFFIX))]
    return [_read(path) for path in _within_bounds([workspace / FOLDER / name for name in named[:MOST_FILES]])]


def _within_bounds(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield the files until their total size exceeds the bound."""
    left = MOST_BYTES
    for path in paths:
        with suppress(OSError):
            size = path.lstat().st_size
            left -= size if size <= LARGEST else 0  # a larger one is not read
            if left < 0:
                return
            yield path


def write(workspace: Path, recipe: Recipe, *, replace: bool = False) -> RecipeFile:
    """Write the file of a recipe; raises if it exists and `replace` is false."""
    path = path_of(workspace, recipe.name)
    text = safe_yaml.dump(recipe.to_dict())
    if len(text.encode()) > LARGEST:
        raise InputError(f"the recipe has more than {LARGEST // 1_000_000} MB", hint="shorten its plan")
    if not replace and os.path.lexists(path):
        raise RecipeExists(f"there is a recipe {recipe.name!r} already: {path}", hint="choose another name")
    safe_files.write(path, text, below=workspace)
    return RecipeFile(recipe.name, path, recipe, recipe.goal, sha256=_hash(text.encode()))


def _read(path: Path) -> RecipeFile:
    """Read a file: its recipe, or the reason why there is none."""
    name = path.name.removesuffix(SUFFIX)
    try:
        data = untrusted_files.read(path, LARGEST)
        document = safe_yaml.load(data.decode("utf-8-sig")).values
    except (OSError, ValueError) as error:
        return RecipeFile(name, path, None, reason=_reason(name, _unreadable(error)), shape="perhaps")
    if faults := shape_faults(document):
        shape: Shape = "perhaps" if is_like_recipe(document) else "other"
        return RecipeFile(name, path, None, reason=_reason(name, "; ".join(faults)), shape=shape)
    goal = document["goal"]
    try:
        return RecipeFile(name, path, read_recipe(name, document), goal, sha256=_hash(data))
    except NoRecipe as error:
        return RecipeFile(name, path, None, goal[:1_000], _bounded(error.message), _hash(data))


def _unreadable(error: OSError | ValueError) -> str:
    match error:
        case Malformed():
            return f"line {error.line}: {error.what}"
        case UnicodeDecodeError():
            return "it is not text in UTF-8"
        case OSError():
            return error.strerror or type(error).__name__
    return str(error)


def _reason(name: str, fault: str) -> str:
    return _bounded(f"the recipe {name!r} cannot be read: {fault}")


def _bounded(reason: str) -> str:
    """Make a reason one printable line: it may quote an untrusted file."""
    return shorten(printable(reason), LONGEST_REASON)


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
