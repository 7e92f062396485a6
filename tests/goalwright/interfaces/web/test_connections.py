"""Connections without a token are limited, so that the user can always connect."""

from __future__ import annotations

import os
import resource
import socket
import subprocess
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

import httpx2
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LIMIT = 256


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The address of a real `goalwright serve` that may open few files."""
    command = [sys.executable, "-m", "goalwright", "serve", "--port", "0", "--no-open"]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "HOME": str(tmp_path)},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (LIMIT, LIMIT)),
    )
    assert process.stdout is not None
    try:
        line = next(line for line in process.stdout if "#token=" in line)
        yield next(word for word in line.split() if "#token=" in word)
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()


def ask(address: str) -> int:
    base, _, token = address.partition("/#token=")
    return httpx2.get(f"{base}/api/runs", headers={"Authorization": f"Bearer {token}"}, timeout=20).status_code


def is_closed(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return connection.recv(1, socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def test_idle_connections_leave_room_for_the_user_and_unfinished_requests_end(address: str) -> None:
    host, _, port = address.removeprefix("http://").partition("/")[0].partition(":")
    with ExitStack() as stack:
        idle = []
        for number in range(2 * LIMIT):
            connection = stack.enter_context(socket.create_connection((host, int(port)), timeout=20))
            if number % 2:
                connection.sendall(b"GET / HTTP/1.1\r\nHost: ")
            idle.append(connection)
        assert ask(address) == 200
        # Unfinished requests end after ten seconds; these were dropped earlier for newer ones.
        assert sum(map(is_closed, idle)) > LIMIT + LIMIT // 2

        idle[-1].settimeout(30)
        try:
            rest = idle[-1].recv(1_000)
        except ConnectionError:
            rest = b""
        assert rest == b"", "it was closed, unfinished as it was"
        assert ask(address) == 200
