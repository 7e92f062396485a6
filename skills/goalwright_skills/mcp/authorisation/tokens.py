"""What is kept of a login at an MCP server: one file a server in the user's data folder, readable by the user alone."""

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
    """A server wants a login before it answers."""

    code = "MCP_LOGIN"


def login_key(launch: ServerLaunch, source: str) -> str:
    """Which login belongs to a server: one of another workspace, name or address has another."""
    where = str(launch.folder) if source == "workspace" else ""
    return hashlib.sha256(json.dumps([source, where, launch.name, launch.url]).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class TokenFile:
    """The login of one server. Tokens, the registered client, and where they are refreshed; never shown."""

    path: Path
    server: str = ""

    def load(self) -> dict[str, Any]:
        """What is kept; nothing if there is no file, or if others could have written or read it."""
        try:
            handle = os.open(self.path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        except OSError:
            return {}
        with os.fdopen(handle, "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode) or (os.name == "posix" and found.st_mode & 0o077):
                return {}
            content = file.read(_LIMIT + 1)
        with suppress(ValueError, RecursionError):
            document = json.loads(content)
            if isinstance(document, dict) and document.get("v") == _VERSION:
                return document
        return {}

    def save(self, **changes: Any) -> None:
        """Change what is kept, all at once; the file is created for the user alone."""
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
        """Forget the login; returns whether there was one."""
        had = bool(self.load().get("tokens"))
        self.path.unlink(missing_ok=True)
        return had

    @property
    def state(self) -> LoginState:
        """How the login stands, going by the file."""
        kept = self.load()
        if kept.get("needed"):
            return "needed"
        tokens = kept.get("tokens")
        if not isinstance(tokens, dict):
            return "none"
        expires = kept.get("expires")
        is_over = isinstance(expires, int | float) and expires < time.time()
        return "expired" if is_over and not tokens.get("refresh_token") else "active"

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values that must not be repeated anywhere."""
        kept = self.load()
        tables = [kept.get(key) for key in ("tokens", "client")]
        names = ("access_token", "refresh_token", "client_secret", "registration_access_token")
        found = [str(table[name]) for table in tables if isinstance(table, dict) for name in names if table.get(name)]
        return tuple(secret for secret in found if len(secret) >= _SHORTEST_SECRET)
