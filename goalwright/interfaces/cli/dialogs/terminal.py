"""Ask a person at the terminal: yes or no, or a line of text."""

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
    """Whether the user agrees; `yes` answers in advance, and without a terminal the answer is no."""
    return yes or (can_ask() and click.confirm(question, err=True))


async def typed_line(prompt: str) -> str | None:
    """A line that the person types; None for Ctrl-D at its beginning. Ctrl-C stops the run, as always."""
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
            some = os.read(terminal, 65_536)
        except OSError:
            some = b""
        read += some
        if not typed.done() and (not some or read.endswith(b"\n")):
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
    """What the person answers to a question that was shown; an empty line is asked for again, Ctrl-D is None."""
    while (text := await typed_line("Your answer: ")) is not None:
        if text.strip():
            return text.strip()
    return None
