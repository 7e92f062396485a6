"""The stored logins at MCP servers: one file per server in the user's data folder, readable only by the user."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import stat
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from goalwright_skills.mcp.entry import McpFault

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_skills.mcp.entry import ServerLaunch

LoginState = Literal["none", "needed", "active", "expired"]

_LIMIT = 1_000_000
_VERSION = 1
_SHORTEST_SECRET = 6


class LoginNeeded(McpFault):
    """A server requires a login before it answers."""

    code = "MCP_LOGIN"


def login_key(launch: ServerLaunch, source: str) -> str:
    """Return the key of a server's login, which depends on its workspace, name and URL."""
    where = str(launch.folder) if source == "workspace" else ""
    return hashlib.sha256(json.dumps([source, where, launch.name, launch.url]).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class TokenFile:
    """The login at one server: tokens, the registered client, and the metadata for refreshing them."""

    path: Path
    server: str = ""

    def load(self) -> dict[str, Any]:
        """Load the login; empty if there is no file, or if other users may read or write it."""
        try:
            handle = os.open(self.path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        except OSError:
            return {}
        with os.fdopen(handle, "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            if not stat.S_ISREG(mode) or (os.name == "posix" and mode & 0o077):
                return {}
            content = file.read(_LIMIT + 1)
        with suppress(ValueError, RecursionError):
            document = json.loads(content)
            if isinstance(document, dict) and document.get("v") == _VERSION:
                return document
        return {}

    def save(self, **changes: Any) -> None:
        """Change the stored login atomically; only the user can read the file."""
        document = {**self.load(), **changes, "v": _VERSION, "server": self.server}
        content = json.dumps({key: value for key, value in document.items() if value is not None}).encode()
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = self.path.with_name(f".{secrets.token_hex(8)}")
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            draft.replace(self.path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise

    def remove(self) -> bool:
        """Delete the login and return whether there was one."""
        existed = bool(self.load().get("tokens"))
        self.path.unlink(missing_ok=True)
        return existed

    @property
    def state(self) -> LoginState:
        """The state of the stored login."""
        login = self.load()
        if login.get("needed"):
            return "needed"
        tokens = login.get("tokens")
        if not isinstance(tokens, dict):
            return "none"
        expires = login.get("expires")
        has_expired = isinstance(expires, int | float) and expires < time.time()
        return "expired" if has_expired and not tokens.get("refresh_token") else "active"

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values that must not occur in messages or records."""
        login = self.load()
        tables = [login.get(key) for key in ("tokens", "client")]
        names = ("access_token", "refresh_token", "client_secret", "registration_access_token")
        values = [str(table[name]) for table in tables if isinstance(table, dict) for name in names if table.get(name)]
        return tuple(secret for secret in values if len(secret) >= _SHORTEST_SECRET)
