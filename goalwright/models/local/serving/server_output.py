"""Reads the output of a server's process: its answer to the start request, and the last lines of its log."""

from __future__ import annotations

import json
import os
import re
import threading
from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import IO

_LINES = 60
_LINE_BYTES = 2000
# The line that llama-server logs once it is ready.
_LISTENING = re.compile(rb"^[\d.]+ I srv +llama_server: listening on (http://127\.0\.0\.1:\d+)$")
_TIMESTAMP = re.compile(r"^[\d.]+ ")


class ServerOutput:
    """Reads the output in a thread while the process lives, so that the pipe never fills up."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._lines: deque[str] = deque(maxlen=_LINES)
        self._answered = threading.Event()
        self._answer: dict[str, Any] | None = None
        self._reader = threading.Thread(target=self._read, name="output of the embedded model", daemon=True)
        self._reader.start()

    def answer(self, seconds: float) -> dict[str, Any] | None:
        """The process's answer, None if it ended without one; raises TimeoutError if there is none in time."""
        if not self._answered.wait(seconds):
            raise TimeoutError
        return self._answer

    def log(self) -> list[str]:
        """The last lines of the log, without their timestamps."""
        return [_TIMESTAMP.sub("", line) for line in tuple(self._lines)]

    def errors(self) -> str:
        """The errors in the log, shortened; without any, its last line."""
        lines = self.log()
        errors = [line.removeprefix("E ") for line in lines if line.startswith("E ")] or lines[-1:]
        return "; ".join(" ".join(line.split()) for line in errors)[:600]

    def close(self) -> None:
        """Free the pipe; the process must have ended."""
        self._reader.join()
        self._stream.close()

    def _read(self) -> None:
        rest = b""
        try:
            while chunk := os.read(self._stream.fileno(), 1 << 16):
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    self._take(line)
                rest = rest[-_LINE_BYTES:]
        finally:
            self._answered.set()

    def _take(self, line: bytes) -> None:
        if self._answer is None:
            if found := _LISTENING.match(line):
                self._answer = {"address": found[1].decode()}
            elif line.startswith((b'{"address"', b'{"missing"', b'{"refused"')):
                self._answer = json.loads(line)
            if self._answer is not None:
                self._answered.set()
                return
        self._lines.append(line[:_LINE_BYTES].decode("utf-8", "replace"))
