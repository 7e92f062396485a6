"""Model calls in another process, which loads litellm once and forks for each connection.

A batch starts private processes, on socket pairs that nobody else can open, so that its calls can use several cores.
Runs at a terminal share one process, behind a socket that only the user can open; it stays for a while, so that the
next run need not load litellm.

messages.py       the messages between both ends, as JSON
server.py         the process
spawn.py          starts it
connection.py     the client's end, which detects a lost process
pool.py           the private processes of a batch
shared.py         the shared process; socket_folder.py, the folder of its socket

Imports what goalwright.models imports. Start with server.py.
"""
