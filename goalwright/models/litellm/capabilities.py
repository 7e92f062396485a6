"""What each model supports, remembered so that a refused request is paid for only once."""

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
    """The best response format that a model supports, and whether it supports tools and images.

    `streams` is never saved. Whether it takes `images` is not known at first; only that it has refused some is saved.
    """

    format: str = "json_schema"
    tools: bool = True
    images: bool | None = None
    streams: bool = True
    refused_images: bool = False

    def refuse_images(self) -> None:
        """Note that the model does not take images."""
        self.images, self.refused_images = False, True

    def step_down(self) -> bool:
        """Fall back to the next simpler format; returns whether there was one."""
        place = _FORMATS.index(self.format)
        if place + 1 == len(_FORMATS):
            return False
        self.format = _FORMATS[place + 1]
        return True


class Capabilities:
    """Capabilities by model and address, cached in a file that may disappear at any time."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._known: dict[str, Capability] = {}

    def of(self, key: str) -> Capability:
        """What is known about a model; full support is assumed until a request is refused."""
        if key not in self._known:
            row = self._read().get(key)
            capability = Capability()
            if isinstance(row, dict) and time.time() - float(row.get("at", 0)) < _DAYS * 86_400:
                capability.format = row["format"] if row.get("format") in _FORMATS else capability.format
                capability.tools = row.get("tools") is not False
                if row.get("images") is False:
                    capability.refuse_images()
            self._known[key] = capability
        return self._known[key]

    def save(self, key: str) -> None:
        """Save what was just learnt about a model."""
        if self._path is None:
            return
        capability = self._known[key]
        row = {"format": capability.format, "tools": capability.tools, "at": int(time.time())}
        if capability.refused_images:
            row["images"] = False
        rows = self._read() | {key: row}
        with suppress(OSError):  # without the cache, the next run finds out again
            self._path.parent.mkdir(parents=True, exist_ok=True)
            scratch = self._path.with_suffix(f".{time.monotonic_ns()}")
            scratch.write_text(json.dumps(rows), encoding="utf-8")
            scratch.replace(self._path)

    def _read(self) -> dict[str, Any]:
        if self._path is None:
            return {}
        try:
            rows = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return rows if isinstance(rows, dict) else {}
