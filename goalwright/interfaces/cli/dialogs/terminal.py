"""Read yes, no or a line of text from the terminal."""

from __future__ import annotations

import asyncio
import os
import sys

import click

from goalwright.interfaces.cli.view import output


def can_ask() -> bool:
    """Whether stdin and stderr are a terminal."""
    return sys.stdin.isatty() and output.is_terminal()


def confirmed(question: str, *, yes: bool) -> bool:
    """Ask for confirmation, unless `yes`; False without a terminal."""
    return yes or (can_ask() and click.confirm(question, err=True))


async def typed_line(prompt: str) -> str | None:
    """Read a line while a run continues; None for Ctrl-D. Ctrl-C stops the run."""
    sys.stderr.write(prompt)
    sys.stderr.flush()
    if sys.platform == "win32":
        return await asyncio.to_thread(lambda: sys.stdin.readline() or None)
    loop = asyncio.get_running_loop()
    typed: asyncio.Future[bytes] = loop.create_future()
    terminal = sys.stdin.fileno()
    read = b""

    def take() -> None:
        nonlocal read
        try:
            chunk = os.read(terminal, 65_536)
        except OSError:
            chunk = b""
        read += chunk
        if not typed.done() and (not chunk or read.endswith(b"\n")):
            typed.set_result(read)

    loop.add_reader(terminal, take)
    try:
        line = (await typed).decode("utf-8", "replace")
    finally:
        loop.remove_reader(terminal)
    if not line:
        output.say()
    return line.rstrip("\r\n") if line else None


async def typed_answer() -> str | None:
    """Ask until an answer is typed; None for Ctrl-D."""
    while (text := await typed_line("Your answer: ")) is not None:
        if text.strip():
            return text.strip()
    return None
