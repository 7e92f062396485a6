"""A program in a terminal of its own, driven by tmux."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


@dataclass
class Terminal:
    """A terminal of a size; `socket` keeps it apart from every other one."""

    socket: Path
    columns: int
    rows: int
    _started: int = 0

    def start(self, command: list[str], env: Mapping[str, str]) -> None:
        """Start a program; the terminal stays when it ends."""
        given = [f"{name}={value}" for name, value in env.items()]
        size = ["-x", str(self.columns), "-y", str(self.rows)]
        line = shlex.join(["env", "-i", *given, *command]) + "; echo ended $?; exec sleep 600\n"
        self._started += 1
        self.socket = self.socket.with_name(f"socket{self._started}")  # a server that ends may still hold the last one
        script = self.socket.with_name(f"start{self._started}.sh")  # tmux takes no long commands
        script.write_text(line, encoding="utf-8")
        self._tmux("-f", os.devnull, "new-session", "-d", *size, f"sh {shlex.quote(str(script))}")

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

    @property
    def process(self) -> int:
        """The process that runs in it."""
        return int(self._tmux("list-panes", "-F", "#{pane_pid}"))

    def close(self) -> None:
        """End it, and what runs in it."""
        subprocess.run(["tmux", "-S", str(self.socket), "kill-server"], check=False, capture_output=True)

    def _tmux(self, *arguments: str) -> str:
        done = subprocess.run(
            ["tmux", "-S", str(self.socket), *arguments], check=True, capture_output=True, text=True, timeout=60
        )
        return done.stdout
