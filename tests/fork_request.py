"""Stands for a Python process that is forked from a warm one: `fork_request.py ADDRESS -m goalwright …`, or `-u -c CODE`.

It hands over its standard files, waits for the end of the process and ends as it did. It runs without `site`, so it
imports nothing but Python's own modules.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys

signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])  # until there is a process to pass it on to
address, command = sys.argv[1], [one for one in sys.argv[2:3] if one != "-u"] + sys.argv[3:]
connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
connection.connect(address)
noted = os.environ.get("TESTS_FORKED")  # Ray ends the process group of a worker, so each has its own
request = {"command": command, "env": dict(os.environ), "cwd": os.getcwd(), "descriptors": [], "session": bool(noted)}  # noqa: PTH109
socket.send_fds(connection, [json.dumps(request).encode()], [0, 1, 2])
os.dup2(os.open(os.devnull, os.O_RDWR), 0)  # nobody but the process holds the pipes, so that its end closes them
os.dup2(0, 1)
pid = int(connection.recv(16))
if noted:  # the environment of a process that was forked does not tell whose it is
    with open(noted, "a", encoding="ascii") as file:  # noqa: PTH123
        file.write(f"{pid}\n")
signal.signal(signal.SIGTERM, lambda *_: os.kill(pid, signal.SIGTERM))
signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
status = int(connection.recv(16) or b"1")
sys.exit(status if status >= 0 else 128 - status)
