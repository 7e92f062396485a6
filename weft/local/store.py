"""The folder where models are kept: a GGUF file and a record of what it is, for each.

A model counts as installed once both stand there and agree in size; the record comes first and the file is
renamed into place last, so whatever breaks off in between leaves nothing that looks installed.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from skills import file_lock, user_folders
from skills.errors import InputError
from weft.local.catalogue import check_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager


@dataclass(frozen=True, slots=True)
class Record:
    """What is known of an installed model; `context` is 0 where only the file knows it."""

    name: str
    bytes: int
    sha256: str
    context: int
    profile: str
    origin: str


@dataclass(frozen=True, slots=True)
class Installed:
    """A model on disk."""

    record: Record
    path: Path


def models_dir(given: Path | None = None, env: Mapping[str, str] | None = None) -> Path:
    """Where models are kept: as given, else `WEFT_MODELS_DIR`, else the user's data folder."""
    if given is not None:
        return given.expanduser()
    named = (os.environ if env is None else env).get("WEFT_MODELS_DIR")
    return Path(named).expanduser() if named else user_folders.data() / "models"


@dataclass(frozen=True, slots=True)
class ModelStore:
    """The models in one folder; the folder is made when the first one comes in."""

    root: Path

    def path(self, name: str) -> Path:
        """Where the model of that name is, or would be."""
        return self.root / f"{check_name(name)}.gguf"

    def partial(self, name: str) -> Path:
        """The folder of a pull under way; what it holds is never used as a model."""
        return self.root / ".partial" / check_name(name)

    def find(self, name: str) -> Installed | None:
        """The installed model of that name."""
        path = self.path(name)
        try:
            record = Record(**json.loads(path.with_suffix(".json").read_text(encoding="utf-8")))
            size = path.stat().st_size
        except (OSError, ValueError, TypeError):
            return None
        return Installed(record, path) if size == record.bytes else None

    def installed(self) -> list[Installed]:
        """All installed models by name."""
        names = sorted(path.stem for path in self.root.glob("*.gguf"))
        return [found for name in names if (found := self.find(name))]

    def keep(self, record: Record, file: Path) -> Installed:
        """Take a checked file in, in one step."""
        path = self.path(record.name)
        draft = file.with_suffix(".json")
        draft.write_text(json.dumps(asdict(record), indent=1) + "\n", encoding="utf-8")
        draft.replace(path.with_suffix(".json"))
        file.replace(path)
        self.discard(record.name)
        return Installed(record, path)

    def remove(self, name: str) -> int:
        """Remove a model and what an unfinished pull of it left; returns the bytes freed."""
        path = self.path(name)
        with self.locked(name):
            files = [path, path.with_suffix(".json"), *self.partial(name).rglob("*")]
            freed = sum(file.stat().st_size for file in files if file.is_file())
            if not freed:
                raise InputError(
                    f"no model named {name!r} is installed in {self.root}",
                    hint="`weft models list` shows what is.",
                )
            # The file goes before its record: a record alone is not an installed model.
            path.unlink(missing_ok=True)
            path.with_suffix(".json").unlink(missing_ok=True)
            self.discard(name)
        return freed

    def discard(self, name: str) -> None:
        """Drop what a pull left behind."""
        shutil.rmtree(self.partial(name), ignore_errors=True)

    def locked(self, name: str, waiting: Callable[[], None] = lambda: None) -> AbstractContextManager[None]:
        """Hold that model against other processes; `waiting` is called once if another holds it."""
        return file_lock.hold(self.root / ".partial" / f"{check_name(name)}.lock", waiting)
