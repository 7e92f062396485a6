"""Started first in a box with a bridge: opens the proxy's port on the box's loopback, then executes the command.

The listening socket is sent to goalwright, which serves it from outside; only the port remains in the box. The script
runs in a bare interpreter and imports nothing from goalwright.
"""

from __future__ import annotations

import os
import socket
import sys

NAMES = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


def main() -> None:
    """Send the socket, close the bridge, and execute the command with the proxy in its environment."""
    with socket.socket(fileno=int(sys.argv[1])) as bridge, socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        port = listener.getsockname()[1]
        socket.send_fds(bridge, [b"l"], [listener.fileno()])
    proxy = dict.fromkeys(NAMES, f"http://127.0.0.1:{port}")
    argv = sys.argv[2:]
    try:
        os.execvpe(argv[0], argv, os.environ | proxy | {"NODE_USE_ENV_PROXY": "1"})  # noqa: S606  no shell is needed
    except OSError as error:
        os.write(2, f"goalwright: {argv[0]}: {error.strerror}\n".encode())
        os._exit(127)


if __name__ == "__main__":
    main()
