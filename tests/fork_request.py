"""Replaces Python by a process forked from a warm one: `fork_request.py ADDRESS -m goalwright …` or `-u -c CODE`.

It passes on its standard files, waits for the process and exits with its status. It runs without `site`, so it imports
the standard library only.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys

signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])  # until there is a process to forward it to
address, command = sys.argv[1], [argument for argument in sys.argv[2:3] if argument != "-u"] + sys.argv[3:]
connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
connection.connect(address)
pid_log = os.environ.get("TESTS_FORKED")  # Ray kills the process group of a worker, so each needs its own
request = {"command": command, "env": dict(os.environ), "cwd": os.getcwd(), "descriptors": [], "session": bool(pid_log)}  # noqa: PTH109
socket.send_fds(connection, [json.dumps(request).encode()], [0, 1, 2])
os.dup2(os.open(os.devnull, os.O_RDWR), 0)  # only the process holds the pipes, so its end closes them
os.dup2(0, 1)
pid = int(connection.recv(16))
if pid_log:  # the environment of a forked process does not show its owner
    with open(pid_log, "a", encoding="ascii") as file:  # noqa: PTH123
        file.write(f"{pid}\n")
signal.signal(signal.SIGTERM, lambda *_: os.kill(pid, signal.SIGTERM))
signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
status = int(connection.recv(16) or b"1")
sys.exit(status if status >= 0 else 128 - status)
