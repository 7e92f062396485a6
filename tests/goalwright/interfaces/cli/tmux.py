"""A program in a terminal of its own, driven by tmux."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.nursery import Nursery, Process

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


@dataclass
class Terminal:
    """A terminal of a size; `socket` keeps it apart from every other one."""

    socket: Path
    columns: int
    rows: int
    _started: int = 0

    def start(self, nursery: Nursery, command: list[str], env: Mapping[str, str]) -> Process:
        """Start `goalwright COMMAND` in it; the terminal stays when it ends.

        It has litellm loaded, so it needs no helper that loads it for the next run at a terminal.
        """
        size = ["-x", str(self.columns), "-y", str(self.rows)]
        self._started += 1
        self.socket = self.socket.with_name(f"socket{self._started}")  # a server that ends may still hold the last one
        process = self.socket.with_name(f"process{self._started}")
        # The terminal is the shell's: it hands on a Ctrl-C that comes while the program does not read keys.
        shell = f"trap 'kill -INT $(cat {process})' INT; while :; do sleep 3600; done"
        self._tmux("-f", os.devnull, "new-session", "-d", *size, shell)
        tty = os.open(self._tmux("list-panes", "-F", "#{pane_tty}").strip(), os.O_RDWR | os.O_NOCTTY)
        given = {**env, "TERM": "screen-256color", "GOALWRIGHT_HELPER_MINUTES": "0"}
        try:
            started = nursery.start(["-m", "goalwright", *command], env=given, stdin=tty, stdout=tty, stderr=tty)
            process.write_text(str(started.pid), encoding="utf-8")
            return started
        finally:
            os.close(tty)

    def type(self, *keys: str) -> None:
        """Press keys, as tmux calls them; a text is typed as it stands."""
        for key in keys:
            self._tmux("send-keys", *(() if key in ("Enter", "C-c", "C-d", "Escape", "Tab") else ("-l",)), key)

    @property
    def screen(self) -> str:
        """What is shown, with what has scrolled away."""
        return self._tmux("capture-pane", "-p", "-J", "-S", "-2000")

    @property
    def visible(self) -> list[str]:
        """The lines that are shown now."""
        return self._tmux("capture-pane", "-p").splitlines()

    def wait_for(self, *texts: str, times: int = 1, seconds: float = 240) -> str:
        """The screen once it shows these texts."""
        until = time.monotonic() + seconds
        while True:
            screen = self.screen
            if all(screen.count(text) >= times for text in texts):
                return screen
            if time.monotonic() > until:
                raise AssertionError(f"not shown: {texts}, {times} times; the screen:\n{screen}")
            time.sleep(0.1)

    def close(self) -> None:
        """End it, and what runs in it."""
        subprocess.run(["tmux", "-S", str(self.socket), "kill-server"], check=False, capture_output=True)

    def _tmux(self, *arguments: str) -> str:
        done = subprocess.run(
            ["tmux", "-S", str(self.socket), *arguments], check=True, capture_output=True, text=True, timeout=60
        )
        return done.stdout
