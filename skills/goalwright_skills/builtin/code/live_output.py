"""What a process writes, for those who watch: a few pieces a second, each of them short."""

from __future__ import annotations

import asyncio
import codecs
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PAUSE = 0.1
LONGEST = 4_000


class LiveOutput:
    """Gathers bytes and shows them as text; of much at once, the end."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._text = ""
        self._planned: asyncio.TimerHandle | None = None

    def hear(self, data: bytes) -> None:
        """Take what came."""
        self._text = (self._text + self._decode(data))[-LONGEST:]
        if self._planned is None:
            self._planned = asyncio.get_running_loop().call_later(PAUSE, self.flush)

    def flush(self) -> None:
        """Show what came since the last time."""
        if self._planned is not None:
            self._planned.cancel()
            self._planned = None
        if self._text:
            text, self._text = self._text, ""
            self._show(text)
