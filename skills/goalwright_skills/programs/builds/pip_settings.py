"""The user's package indexes, proxies and certificates, read from pip's configuration.

A build sees none of the user's files, so the settings that pip needs are read outside the sandbox and passed on.
"""

from __future__ import annotations

import configparser
import os
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from goalwright_skills.programs.build_cache import BuildError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

INDEXES = ("index-url", "extra-index-url", "find-links", "no-index", "trusted-host")
OTHERS = ("proxy", "cert", "client-cert", "timeout", "retries", "default-timeout")
# In order of precedence; a build downloads and installs, so the settings of both commands apply.
SECTIONS = ("global", "install", "download")
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")


@dataclass(frozen=True, slots=True)
class FetchSettings:
    """The variables and readable paths with which a package client reaches its index, and a key of the indexes."""

    env: Mapping[str, str]
    reads: tuple[Path, ...] = ()
    key: str = ""
    network: bool = True


def read(environ: Mapping[str, str]) -> FetchSettings:
    """Return the index settings of the user's pip, as environment variables."""
    settings = _merged(environ)
    env = {f"PIP_{name.upper().replace('-', '_')}": value for name, value in settings.items()}
    indexes = " ".join(settings.get(name, "") for name in ("index-url", "extra-index-url")).split()
    local = (*map(_beside, _local(indexes)), *_local(settings.get("find-links", "").split()))
    certificates = [Path(settings[name]) for name in ("cert", "client-cert") if settings.get(name)]
    connection = connections(environ)
    reads = (*local, *certificates, *connection.reads)
    key = "\0".join(f"{name}={settings[name]}" for name in INDEXES if name in settings)
    offline = settings.get("no-index", "").lower() in {"1", "true", "yes", "on"}
    config = {"PIP_CONFIG_FILE": os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"}
    return FetchSettings({**connection.env, **env, **config}, reads, key, network=not offline)


def connections(environ: Mapping[str, str]) -> FetchSettings:
    """Return the proxies and certificates of an environment, for any package client."""
    names = (*PROXIES, *(name.upper() for name in PROXIES), *CERTIFICATES)
    env = {name: environ[name] for name in names if environ.get(name)}
    reads = tuple(Path(env[name]) for name in CERTIFICATES if name in env and Path(env[name]).is_absolute())
    return FetchSettings(env, reads)


def _merged(environ: Mapping[str, str]) -> dict[str, str]:
    sections: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for path in _files(environ):
        parser = configparser.RawConfigParser()
        try:
            parser.read(path, encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError) as error:
            raise BuildError(
                f"{path} cannot be read: {error}", hint="fix the file; pip cannot read it either"
            ) from error
        for section in SECTIONS:
            if parser.has_section(section):
                sections[section].update(parser.items(section))
    merged: dict[str, str] = {}
    for section in SECTIONS:
        merged.update({name.lower().replace("_", "-"): value for name, value in sections[section].items()})
    for name in (*INDEXES, *OTHERS):
        variable = f"PIP_{name.upper().replace('-', '_')}"
        if environ.get(variable):
            merged[name] = environ[variable]
    return {name: " ".join(merged[name].split()) for name in (*INDEXES, *OTHERS) if merged.get(name, "").strip()}


def _files(environ: Mapping[str, str]) -> list[Path]:
    """Return pip's configuration files in order of precedence."""
    named = environ.get("PIP_CONFIG_FILE", "")
    if named == os.devnull:
        return []
    home = _home(environ)
    system = [Path(folder) / "pip" for folder in environ.get("XDG_CONFIG_DIRS", "/etc/xdg").split(":") if folder]
    user = Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "pip"
    if sys.platform == "darwin" and (home / "Library/Application Support/pip").is_dir():
        user = home / "Library/Application Support/pip"
    folders = [*system, Path("/etc"), home / ".pip", user, Path(sys.prefix)]
    files = [folder / "pip.conf" for folder in folders if folder.is_absolute()]
    return [*files, Path(named).absolute()] if named else files


def _home(environ: Mapping[str, str]) -> Path:
    return Path(environ["HOME"]) if environ.get("HOME") else Path.home()


def _local(links: Iterable[str]) -> list[Path]:
    """Return the paths of the links that point to local files."""
    paths = [link if "://" not in link else unquote(urlsplit(link).path) for link in links if _is_local(link)]
    return [Path(path) for path in paths if Path(path).is_absolute()]


def _is_local(link: str) -> bool:
    return link.startswith("file://") or "://" not in link


def _beside(index: Path) -> Path:
    """Return the folder to expose for a local index: its parent, whose files it links to, unless that is too broad."""
    parent = index.parent
    too_broad = len(parent.parts) < 3 or Path.home().is_relative_to(parent)
    return index if too_broad else parent
