"""The measured speed of a model on this machine, and its cache."""

from __future__ import annotations

import hashlib
import json
import math
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from goalwright_skills import user_folders

if TYPE_CHECKING:
    from pathlib import Path

_MAX_FILE_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Speed:
    """The seconds per token of the prompt and of the answer on an idle machine."""

    prompt: float
    answer: float

    def seconds(self, prompt: int, answer: int) -> float:
        """The shortest possible time of a call."""
        return prompt * self.prompt + answer * self.answer

    def __str__(self) -> str:
        return f"{_rate(self.prompt)} of a prompt and {_rate(self.answer)} of an answer a second"


def _rate(seconds: float) -> str:
    rate = 1 / seconds
    return f"{rate:,.0f} tokens" if rate >= 10 else f"{rate:.1f} tokens"


@dataclass(frozen=True, slots=True)
class SpeedStore:
    """The measured speeds, each in a small file named after its model, backend and processor."""

    folder: Path

    @classmethod
    def of_user(cls) -> SpeedStore:
        """The store in the user's cache folder."""
        return cls(user_folders.cache() / "local-speed")

    def find(self, name: str) -> Speed | None:
        """A measured speed; None if there is none, or its file is invalid."""
        try:
            with self._path(name).open(encoding="utf-8") as file:
                row = json.loads(file.read(_MAX_FILE_BYTES))
            speed = Speed(float(row["prompt"]), float(row["answer"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return speed if is_usable(speed) else None

    def keep(self, name: str, speed: Speed) -> None:
        """Store a speed if the cache is writable."""
        path = self._path(name)
        draft = path.with_suffix(f".{os.getpid()}")
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            draft.write_text(json.dumps({"of": name, **asdict(speed)}) + "\n", encoding="utf-8")
            draft.replace(path)

    def _path(self, name: str) -> Path:
        return self.folder / f"{hashlib.sha256(name.encode()).hexdigest()[:24]}.json"


def is_usable(speed: Speed) -> bool:
    """Whether a speed is plausible; a file may contain anything."""
    return all(math.isfinite(value) and 0 < value < 1e4 for value in (speed.prompt, speed.answer))
