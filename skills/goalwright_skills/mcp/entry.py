"""One MCP server in a configuration file, and its launch values with variables filled in."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from goalwright_skills.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

EntrySource = Literal["workspace", "user"]

CALL_TIMEOUT = 60.0
_SHORTEST_SECRET = 6
_CREDENTIAL = re.compile(r"auth|cookie|key|token|secret|pass", re.IGNORECASE)
# As in Claude Code: ${VAR} and ${VAR:-default}; VS Code writes ${env:VAR}.
_VARIABLE = re.compile(r"\$\{(?:env:)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}")
_WORKSPACE = "workspaceFolder"  # a variable of VS Code
# The first two names are those of Claude Code.
_OAUTH_TEXTS = ("clientId", "clientSecret", "clientMetadataUrl", "scope")
_UNKNOWN_VARIABLE = re.compile(r"\$\{[a-z]+:[^}]*\}")


class McpFault(SetupError):
    """An MCP server cannot be used."""

    code = "MCP"


@dataclass(frozen=True, slots=True)
class OAuthClient:
    """The OAuth client for logins at a server; without a client id goalwright registers itself."""

    client_id: str = ""
    client_secret: str = ""
    client_metadata_url: str = ""
    scope: str = ""
    callback_port: int = 0


@dataclass(frozen=True, slots=True)
class ServerLaunch:
    """How to start a server or connect to it: a command with its environment, or a URL with its headers.

    The server belongs to the workspace `folder` and runs in `cwd`.
    """

    name: str
    folder: Path
    cwd: Path
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout: float = CALL_TIMEOUT
    confined: bool = False
    network: bool = False
    oauth: OAuthClient = field(default_factory=OAuthClient)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values that must not occur in messages."""
        values = (*self.env.values(), *self.headers.values())
        return tuple(dict.fromkeys((*filter(_is_long, values), *self.credentials)))

    @property
    def credentials(self) -> tuple[str, ...]:
        """The values of credential headers, with and without a scheme such as Bearer, and the client secret."""
        values = [value for name, value in self.headers.items() if _CREDENTIAL.search(name)]
        tokens = (value.partition(" ")[2] for value in values)
        return tuple(filter(_is_long, (*values, *tokens, self.oauth.client_secret)))


def _is_long(value: str) -> bool:
    """Whether a value is too long to occur in a text by chance."""
    return len(value) >= _SHORTEST_SECRET


@dataclass(frozen=True, slots=True)
class ServerEntry:
    """A server as configured in `file`; `fault` says why the entry is invalid."""

    name: str
    source: EntrySource
    file: Path
    raw: Mapping[str, Any]
    fault: str = ""

    @property
    def disabled(self) -> bool:
        """Whether the entry is disabled in its file."""
        return self.raw.get("disabled") is True

    @property
    def confined(self) -> bool:
        """Whether the server runs in the sandbox of tools."""
        return self.raw.get("confined") is True

    @property
    def command_line(self) -> str:
        """The command or URL, before variables are filled in."""
        if self.raw.get("url"):
            return str(self.raw["url"])
        line = " ".join([str(self.raw.get("command", "")), *map(str, self.raw.get("args") or ())])
        return f"{line} (in {self.raw['cwd']})" if self.raw.get("cwd") else line

    @property
    def timeout(self) -> float:
        """The timeout of a call in seconds."""
        milliseconds = self.raw.get("timeout")
        if isinstance(milliseconds, int | float) and milliseconds > 0:
            return milliseconds / 1000
        return CALL_TIMEOUT

    def variables(self) -> list[tuple[str, str]]:
        """Return each variable of the user's environment that the entry uses, and where its value goes."""
        uses = [(match["name"], target) for target, text in self._texts() for match in _VARIABLE.finditer(text)]
        return [use for use in dict.fromkeys(uses) if use[0] != _WORKSPACE]

    def launch(self, workspace: Path, environ: Mapping[str, str]) -> ServerLaunch:
        """Return the launch values; raises McpFault if the entry is invalid or a variable is not set."""
        if self.fault:
            raise McpFault(f"the MCP server {self.name!r} {self.fault}", hint=f"fix its entry in {self.file}")
        missing = sorted(set(self._unset(environ)))
        if missing:
            message = f"the MCP server {self.name!r} needs {', '.join(missing)}, which is not set"
            raise McpFault(message, hint="set it in the environment, or give a default: ${NAME:-value}")

        values = {**environ, _WORKSPACE: str(workspace)}

        def fill(text: str) -> str:
            return _VARIABLE.sub(lambda match: values.get(match["name"]) or match["default"] or "", text)

        raw = self.raw
        return ServerLaunch(
            name=self.name,
            folder=workspace,
            cwd=self._cwd(fill(str(raw.get("cwd") or "")), workspace),
            command=fill(str(raw.get("command") or "")),
            args=tuple(fill(str(argument)) for argument in raw.get("args") or ()),
            env={key: fill(str(value)) for key, value in (raw.get("env") or {}).items()},
            url=fill(str(raw.get("url") or "")),
            headers={key: fill(str(value)) for key, value in (raw.get("headers") or {}).items()},
            timeout=self.timeout,
            confined=self.confined,
            network=raw.get("network") is True,
            oauth=_oauth(raw, fill),
        )

    def _cwd(self, cwd: str, workspace: Path) -> Path:
        """Return the working folder: in the workspace, but a server in the user's file may run anywhere."""
        if not cwd:
            return workspace
        real, root = (Path(os.path.realpath(path)) for path in (workspace / Path(cwd).expanduser(), workspace))
        if real.is_dir() and (self.source == "user" or real.is_relative_to(root)):
            return real
        owner = "" if self.source == "user" else " of the workspace"
        message = f"the MCP server {self.name!r} has the cwd {cwd!r:.80}, which is not a folder{owner}"
        raise McpFault(message, hint=f"name a folder below {workspace}, or remove cwd from its entry in {self.file}")

    def _unset(self, environ: Mapping[str, str]) -> Iterator[str]:
        for _, text in self._texts():
            for match in _VARIABLE.finditer(text):
                if match["default"] is None and match["name"] not in (*environ, _WORKSPACE):
                    yield match["name"]

    def _texts(self) -> Iterator[tuple[str, str]]:
        """Yield every text in which variables are filled in, after its description."""
        raw = self.raw
        yield "the command", str(raw.get("command") or "")
        for argument in raw.get("args") or ():
            yield "its arguments", str(argument)
        for key, value in (raw.get("env") or {}).items():
            yield f"its environment as {key}", str(value)
        yield "its working folder", str(raw.get("cwd") or "")
        yield f"the address {raw.get('url')}", str(raw.get("url") or "")
        for key, value in (raw.get("headers") or {}).items():
            yield f"the header {key} to {raw.get('url')}", str(value)
        for key in _OAUTH_TEXTS:
            yield (
                f"its {key}, sent where {raw.get('url')} asks for a login",
                str((raw.get("oauth") or {}).get(key) or ""),
            )


def _oauth(raw: Mapping[str, Any], fill: Callable[[str], str]) -> OAuthClient:
    oauth = raw.get("oauth") or {}
    client_id, secret, metadata, scope = (fill(str(oauth.get(key) or "")) for key in _OAUTH_TEXTS)
    return OAuthClient(client_id, secret, metadata, scope, int(oauth.get("callbackPort") or 0))


def faults(raw: object) -> Iterator[str]:
    """Yield the problems of an entry."""
    if not isinstance(raw, dict):
        yield "must be an object with 'command' or 'url'"
        return
    kind = raw.get("type")
    if kind == "sse":
        yield "uses the transport 'sse', which is not supported: use 'http' if the server speaks it"
    elif kind not in (None, "stdio", "http", "streamable-http", "streamableHttp"):
        yield f"has the type {kind!r}; it must be 'stdio' or 'http'"
    yield from _command_faults(raw)
    if raw.get("timeout") is not None and not (isinstance(raw["timeout"], int | float) and raw["timeout"] > 0):
        yield f"has the timeout {raw['timeout']!r}; it must be a number of milliseconds"
    for key in ("confined", "network"):
        if not isinstance(raw.get(key, False), bool):
            yield f"has a {key!r} that is neither true nor false"
    if raw.get("confined") and raw.get("url"):
        yield "has a url, but only a server with a command can be confined"
    for key in ("env", "headers"):
        table = raw.get(key)
        if table is not None and not (
            isinstance(table, dict) and all(isinstance(item, str | int | float) for item in table.values())
        ):
            yield f"has {key!r} that is not an object of strings"
        elif any(not name or "=" in name or "\0" in f"{name}{value}" for name, value in (table or {}).items()):
            yield f"has {key!r} with a name that is empty or has a '=' in it, or with a NUL character"
    yield from _oauth_faults(raw)
    if variable := _UNKNOWN_VARIABLE.search(
        str([value for key, value in raw.items() if key != "disabled"]).replace("${env:", "")
    ):
        yield f"contains {variable[0]}, which only the program that it was written for can fill in"


def _oauth_faults(raw: Mapping[str, Any]) -> Iterator[str]:
    oauth = raw.get("oauth")
    if oauth is None:
        return
    if not isinstance(oauth, dict) or not all(isinstance(oauth.get(key) or "", str) for key in _OAUTH_TEXTS):
        yield f"has 'oauth' that is not an object with the strings {', '.join(_OAUTH_TEXTS)}"
        return
    port = oauth.get("callbackPort") or 0
    if not isinstance(port, int) or not 0 <= port < 65_536:
        yield f"has the callbackPort {port!r:.20}, which is not a port"
    url = oauth.get("clientMetadataUrl") or ""
    if url and not (url.startswith("https://") and url.removeprefix("https://").partition("/")[2]):
        yield f"has the clientMetadataUrl {url!r:.80}, which is not an https:// address of a document"


def _command_faults(raw: Mapping[str, Any]) -> Iterator[str]:
    command, url, args = raw.get("command"), raw.get("url"), raw.get("args")
    if command and url:
        yield "has both 'command' and 'url': keep 'command' if goalwright starts it, or 'url' if it is called over HTTP"
    elif not command and not url:
        yield (
            "has neither 'command' nor 'url': give 'command' if goalwright starts it, "
            "or 'url' if it is called over HTTP"
        )
    elif command and not isinstance(command, str):
        yield "has a 'command' that is not a string"
    elif url and not (isinstance(url, str) and url.startswith(("http://", "https://", "${"))):
        yield f"has the url {url!r:.80}, which does not begin with http:// or https://"
    if args is not None and not (
        isinstance(args, list) and all(isinstance(argument, str | int | float) for argument in args)
    ):
        yield "has 'args' that are not a list of strings"
    if not isinstance(raw.get("cwd") or "", str):
        yield "has a 'cwd' that is not a string"
    if any("\0" in str(text) for text in (command, url, raw.get("cwd"), *(args if isinstance(args, list) else ()))):
        yield "contains a NUL character"
