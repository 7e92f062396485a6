"""The folder of installed models, each with a GGUF file and a record of its properties.

A model is installed if both are there and the size matches. The record is written first and the file is renamed into
place last, so an interruption never leaves anything that looks installed.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright.models.local.catalogue import check_name
from goalwright_skills import file_lock, user_folders
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """The properties of an installed model; `context` is 0 if only the file has it."""

    name: str
    bytes: int
    sha256: str
    context: int
    profile: str
    origin: str


@dataclass(frozen=True, slots=True)
class Installed:
    """An installed model."""

    record: ModelRecord
    path: Path


def models_dir(path: Path | None = None, env: Mapping[str, str] | None = None) -> Path:
    """The folder for models: `path`, else `GOALWRIGHT_MODELS_DIR`, else in the user's data folder."""
    if path is not None:
        return path.expanduser()
    variable = (os.environ if env is None else env).get("GOALWRIGHT_MODELS_DIR")
    return Path(variable).expanduser() if variable else user_folders.data() / "models"


def backends_of(root: Path) -> Path:
    """The folder for the programs that run models."""
    return root / "backends"


def states_of(model: Path) -> Path:
    """The folder for the prompt states of a model."""
    return model.parent / "states" / model.stem


def made_states_of(model: Path) -> Path | None:
    """Create the folder for prompt states, readable only by the user; None if it is not writable."""
    folder = states_of(model)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


@dataclass(frozen=True, slots=True)
class ModelStore:
    """The models in a folder, which is created with the first one."""

    root: Path

    def path(self, name: str) -> Path:
        """The path of a model's file, installed or not."""
        return self.root / f"{check_name(name)}.gguf"

    def partial(self, name: str) -> Path:
        """The folder for partial downloads of a model."""
        return self.root / ".partial" / check_name(name)

    def find(self, name: str) -> Installed | None:
        """The installed model with this name, or None."""
        path = self.path(name)
        try:
            record = ModelRecord(**json.loads(path.with_suffix(".json").read_text(encoding="utf-8")))
            size = path.stat().st_size
        except (OSError, ValueError, TypeError):
            return None
        return Installed(record, path) if size == record.bytes else None

    def installed(self) -> list[Installed]:
        """All installed models, sorted by name."""
        names = sorted(path.stem for path in self.root.glob("*.gguf"))
        return [model for name in names if (model := self.find(name))]

    def keep(self, record: ModelRecord, file: Path) -> Installed:
        """Move a verified file into the store, in one step."""
        path = self.path(record.name)
        draft = file.with_suffix(".json")
        draft.write_text(json.dumps(asdict(record), indent=1) + "\n", encoding="utf-8")
        draft.replace(path.with_suffix(".json"))
        file.replace(path)
        self.discard(record.name)
        return Installed(record, path)

    def remove(self, name: str) -> int:
        """Remove a model, its states and downloads, and with the last model the backends; return the bytes freed."""
        path = self.path(name)
        with self.locked(name):
            states = states_of(path)
            files = [path, path.with_suffix(".json"), *self.partial(name).rglob("*"), *states.glob("*")]
            freed = sum(file.stat().st_size for file in files if file.is_file())
            if not freed:
                raise InputError(
                    f"no model named {name!r} is installed in {self.root}",
                    hint="`goalwright models list` shows the installed models.",
                )
            # The file goes first: a record alone is not an installed model.
            path.unlink(missing_ok=True)
            path.with_suffix(".json").unlink(missing_ok=True)
            shutil.rmtree(states, ignore_errors=True)
            self.discard(name)
        return freed + self._remove_backends() if not self.installed() else freed

    def _remove_backends(self) -> int:
        """Delete the programs that run models, which are fetched again with a model; return the bytes freed."""
        folder = backends_of(self.root)
        freed = sum(file.lstat().st_size for file in folder.rglob("*") if file.is_file() and not file.is_symlink())
        shutil.rmtree(folder, ignore_errors=True)
        return freed

    def discard(self, name: str) -> None:
        """Delete partial downloads of a model."""
        shutil.rmtree(self.partial(name), ignore_errors=True)

    def locked(self, name: str, on_wait: Callable[[], None] = lambda: None) -> AbstractContextManager[None]:
        """Lock a model against other processes; `on_wait` is called once if another has locked it."""
        return file_lock.hold(self.root / ".partial" / f"{check_name(name)}.lock", on_wait)
