"""Model calls in another process, which loads litellm once and forks for each connection; a fork ends with its own.

There are two uses of the one process. A batch starts private ones, on socket pairs that nobody else can open, so that
its calls are not bound to one core. A run at a terminal uses a shared one, behind a socket that only its user can
open; it stays a while, so that the next run need not load litellm.

- `messages`: what the two ends say to each other, as JSON
- `server`: the process
- `spawn`: how it is started
- `connection`: the other end, which notices when the process is lost
- `pool`: the private workers of a batch
- `shared`, `socket_folder`: the shared process, and where its socket is

Imports what goalwright.models imports. Start with `server.py`.
"""
