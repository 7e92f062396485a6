"""How fast a model runs on this machine, and where that is kept once it is measured."""

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

_KEPT_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Speed:
    """The seconds that a token of the prompt and one of the answer take while nothing else uses the machine."""

    prompt: float
    answer: float

    def seconds(self, prompt: int, answer: int) -> float:
        """The least that a call can take."""
        return prompt * self.prompt + answer * self.answer

    def __str__(self) -> str:
        return f"{_rate(self.prompt)} of a prompt and {_rate(self.answer)} of an answer a second"


def _rate(seconds: float) -> str:
    rate = 1 / seconds
    return f"{rate:,.0f} tokens" if rate >= 10 else f"{rate:.1f} tokens"


@dataclass(frozen=True, slots=True)
class SpeedStore:
    """The measured speeds, a small file for each; `name` says of what."""

    folder: Path

    @classmethod
    def of_user(cls) -> SpeedStore:
        """The one in the user's cache."""
        return cls(user_folders.cache() / "local-speed")

    def find(self, name: str) -> Speed | None:
        """What was measured; None if nothing was, or nothing that can be used."""
        try:
            with self._path(name).open(encoding="utf-8") as file:
                found = json.loads(file.read(_KEPT_BYTES))
            speed = Speed(float(found["prompt"]), float(found["answer"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return speed if is_usable(speed) else None

    def keep(self, name: str, speed: Speed) -> None:
        """Keep it, if the cache can be written."""
        path = self._path(name)
        draft = path.with_suffix(f".{os.getpid()}")
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            draft.write_text(json.dumps({"of": name, **asdict(speed)}) + "\n", encoding="utf-8")
            draft.replace(path)

    def _path(self, name: str) -> Path:
        return self.folder / f"{hashlib.sha256(name.encode()).hexdigest()[:24]}.json"


def is_usable(speed: Speed) -> bool:
    """Whether a figure makes sense: a file may hold anything."""
    return all(math.isfinite(value) and 0 < value < 1e4 for value in (speed.prompt, speed.answer))
