"""Remembers which response formats, tools and images a model supports, so that it refuses a request only once."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

_FORMATS = ("json_schema", "json_object", "prompt")
_DAYS = 14


@dataclass(slots=True)
class Capability:
    """The best response format that a model supports, and whether it supports tools, images and streaming.

    `streams` is never saved. `images` is None until it is known; only a refusal is saved.
    """

    format: str = "json_schema"
    tools: bool = True
    images: bool | None = None
    streams: bool = True
    refused_images: bool = False

    def refuse_images(self) -> None:
        """Note that the model does not accept images."""
        self.images, self.refused_images = False, True

    def step_down(self) -> bool:
        """Switch to the next simpler format; return False if there is none."""
        index = _FORMATS.index(self.format)
        if index + 1 == len(_FORMATS):
            return False
        self.format = _FORMATS[index + 1]
        return True


class Capabilities:
    """The capabilities of models by name and address, cached in a file."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._capabilities: dict[str, Capability] = {}

    def of(self, key: str) -> Capability:
        """The capabilities of a model; full support is assumed until a request is refused."""
        if key not in self._capabilities:
            row = self._read().get(key)
            capability = Capability()
            if isinstance(row, dict) and time.time() - float(row.get("at", 0)) < _DAYS * 86_400:
                capability.format = row["format"] if row.get("format") in _FORMATS else capability.format
                capability.tools = row.get("tools") is not False
                if row.get("images") is False:
                    capability.refuse_images()
            self._capabilities[key] = capability
        return self._capabilities[key]

    def save(self, key: str) -> None:
        """Save the capabilities of a model."""
        if self._path is None:
            return
        capability = self._capabilities[key]
        row = {"format": capability.format, "tools": capability.tools, "at": int(time.time())}
        if capability.refused_images:
            row["images"] = False
        rows = self._read() | {key: row}
        with suppress(OSError):  # without the cache, the next run tries again
            self._path.parent.mkdir(parents=True, exist_ok=True)
            draft = self._path.with_suffix(f".{time.monotonic_ns()}")
            draft.write_text(json.dumps(rows), encoding="utf-8")
            draft.replace(self._path)

    def _read(self) -> dict[str, Any]:
        if self._path is None:
            return {}
        try:
            rows = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return rows if isinstance(rows, dict) else {}
