"""An output that is too long for a model: cut, with the whole of it among the run's artifacts."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skills.tools.envelope import TEXT_LIMIT, Envelope

if TYPE_CHECKING:
    from pathlib import Path

    from skills.tools.envelope import Context


@dataclass(frozen=True, slots=True)
class Output:
    """What a tool answered: its text, and the value where that was other JSON than text."""

    tool: str
    text: str
    value: Any = None

    def envelope(self, context: Context, artifacts: Path | None, time_ms: int) -> Envelope:
        """The output in its envelope, cut and kept where it is too long."""
        if len(self.text) <= TEXT_LIMIT:
            data = {} if self.value is None else {"output": self.value}
            return Envelope("success", self.text, context, data, time_ms=time_ms)
        data = {"characters": len(self.text), "artifact": self._kept(artifacts)}
        return Envelope("partial", self.text[:TEXT_LIMIT], context, data, time_ms=time_ms)

    def _kept(self, artifacts: Path | None) -> str | None:
        """The full text's place among the run's artifacts; made anew, so that no planted link is followed."""
        if artifacts is None:
            return None
        artifacts.mkdir(parents=True, exist_ok=True)
        path = artifacts / f"{self.tool}-{secrets.token_hex(4)}.txt"
        with path.open("x", encoding="utf-8") as file:
            file.write(self.text)
        return str(path)
