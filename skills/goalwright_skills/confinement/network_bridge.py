"""Run first inside a box that has a bridge: opens a proxy's port on the box's own loopback, then becomes the command.

The listening socket is handed out to goalwright, which answers it from outside; nothing of it stays in the box but the port.
Run by a bare interpreter, it imports nothing of goalwright.
"""

from __future__ import annotations

import os
import socket
import sys

NAMES = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


def main() -> None:
    """Hand out the socket, close the bridge, and run the command with the proxy's address in its environment."""
    with socket.socket(fileno=int(sys.argv[1])) as bridge, socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(64)
        port = listening.getsockname()[1]
        socket.send_fds(bridge, [b"l"], [listening.fileno()])
    proxy = dict.fromkeys(NAMES, f"http://127.0.0.1:{port}")
    argv = sys.argv[2:]
    try:
        os.execvpe(argv[0], argv, os.environ | proxy | {"NODE_USE_ENV_PROXY": "1"})  # noqa: S606  no shell is needed
    except OSError as error:
        os.write(2, f"goalwright: {argv[0]}: {error.strerror}\n".encode())
        os._exit(127)


if __name__ == "__main__":
    main()
