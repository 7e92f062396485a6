"""The user's npm registries, read from their configuration as data, and the one file that npm gets to see."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from goalwright_skills.programs.builds.pip_settings import connections

if TYPE_CHECKING:
    from collections.abc import Mapping

NAMES = ("registry", "proxy", "https-proxy", "noproxy", "cafile", "ca", "strict-ssl", "fetch-retries", "fetch-timeout")
_SCOPE = re.compile(r"@[\w.~-]+:registry")
_CREDENTIAL = re.compile(r"//(?P<host>[^/]+)/.*:(?:_authToken|_auth|username|_password|certfile|keyfile|always-auth)")
_VARIABLE = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class NpmSettings:
    """What npm needs to reach the user's registries: a file for it, variables, paths to read, and the hosts."""

    npmrc: str
    env: Mapping[str, str]
    reads: tuple[Path, ...]
    hosts: frozenset[str]
    key: str


def read(environ: Mapping[str, str], prefix: Path) -> NpmSettings:
    """The settings of this user's npm, whose global ones lie below `prefix`; nothing else of their configuration."""
    found: dict[str, str] = {}
    home = Path(environ["HOME"]) if environ.get("HOME") else Path.home()
    for path in (
        _named(environ, "globalconfig") or prefix / "etc/npmrc",
        _named(environ, "userconfig") or home / ".npmrc",
    ):
        found.update(_parse(path, environ))
    for name in NAMES:
        variable = f"npm_config_{name.replace('-', '_')}"
        value = environ.get(variable) or environ.get(variable.upper())
        if value:
            found[name] = value
    registries = {name: value for name, value in found.items() if name == "registry" or _SCOPE.fullmatch(name)}
    kept = {name: value for name, value in found.items() if name in NAMES or name in registries}
    chosen = {urlsplit(value).netloc.rpartition("@")[2] for value in registries.values()}
    # A credential goes only to a registry that the user set; the public one needs none.
    kept |= {name: value for name, value in found.items() if (m := _CREDENTIAL.fullmatch(name)) and m["host"] in chosen}
    connection = connections(environ)
    files = [
        Path(value) for name, value in kept.items() if name == "cafile" or name.endswith((":certfile", ":keyfile"))
    ]
    hosts = frozenset(f"{urlsplit(value).scheme}://{urlsplit(value).netloc}" for value in registries.values())
    npmrc = "".join(f"{name}={value}\n" for name, value in sorted(kept.items()))
    key = "\0".join(f"{name}={value}" for name, value in sorted(registries.items()))
    return NpmSettings(npmrc, connection.env, (*files, *connection.reads), hosts, key)


def _named(environ: Mapping[str, str], name: str) -> Path | None:
    value = environ.get(f"npm_config_{name}") or environ.get(f"NPM_CONFIG_{name.upper()}")
    return Path(value) if value and Path(value).is_absolute() else None


def _parse(path: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """The settings in an npmrc, with the variables in it filled in."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    found = {}
    for line in lines:
        name, equals, value = line.strip().partition("=")
        if equals and not name.startswith((";", "#", "[")):
            filled = _VARIABLE.sub(lambda match: environ.get(match[1], ""), value.strip().strip("\"'"))
            found[name.strip()] = filled
    return found
