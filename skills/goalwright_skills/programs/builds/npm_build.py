"""Installs a Node tool's packages from the user's registries, without running any of their scripts."""

from __future__ import annotations

import json
import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from goalwright_skills.confinement.box import Command
from goalwright_skills.programs import toolchain
from goalwright_skills.programs.build_cache import BuildCache, BuildFolder, BuildStep, cache_key
from goalwright_skills.programs.builds import npm_files
from goalwright_skills.programs.builds.pip_settings import connections
from goalwright_skills.programs.builds.verify import verify

if TYPE_CHECKING:
    from collections.abc import Mapping


QUIET = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")
NO_GIT = "/nonexistent/git"  # npm starts git for some indirect dependencies, and git runs hooks of a repository


@dataclass(frozen=True, slots=True)
class NpmPackages:
    """The packages that a tool needs: its validated manifest, and its lock (empty if it has none)."""

    manifest: Mapping[str, Any]
    lock: Mapping[str, Any]
    lock_path: Path


def requested(folder: Path) -> NpmPackages | None:
    """Return the packages that a folder's files name; None if there are none."""
    manifest = npm_files.read_manifest(folder / "package.json")
    lock = folder / "package-lock.json"
    return NpmPackages(manifest, npm_files.read_json(lock), lock) if manifest else None


async def install(packages: NpmPackages, build_cache: BuildCache, title: str, options: tuple[str, ...] = ()) -> Path:
    """Return the folder whose `node_modules` contains the packages."""
    npm = _Npm.find(build_cache.environ)
    lock = (
        npm_files.checked_lock(dict(packages.lock), packages.lock_path, dict(packages.manifest), npm.settings.hosts)
        if packages.lock
        else {}
    )
    texts = (json.dumps(document, sort_keys=True) for document in (packages.manifest, lock))
    version = toolchain.version(npm.node, "--version")
    key = cache_key("node", *texts, version, platform.machine(), platform.system(), npm.settings.key)
    async with build_cache.folder("node", key, title) as build:
        if not build.ready:
            _write(build.path / "package.json", packages.manifest)
            if not lock:
                await npm.run(build_cache, build, "install", "--package-lock-only", *options)
                made = build.path / "package-lock.json"
                lock = npm_files.checked_lock(
                    npm_files.read_json(made), made, dict(packages.manifest), npm.settings.hosts
                )
            _write(build.path / "package-lock.json", lock)
            await npm.run(build_cache, build, "ci", *options)
            verify(build.path)
    return build.path


@dataclass(frozen=True, slots=True)
class _Npm:
    """npm, started with Node from its real path, and the user's registries."""

    node: str
    program: str
    settings: NpmSettings

    @classmethod
    def find(cls, environ: Mapping[str, str]) -> _Npm:
        node = toolchain.find("node", "install Node.js 20.6 or newer")
        program = os.path.realpath(toolchain.find("npm", "install npm, which comes with Node.js"))
        return cls(node, program, read_settings(environ, toolchain.prefix(node)))

    async def run(self, build_cache: BuildCache, build: BuildFolder, *arguments: str) -> None:
        """Run npm in a build's folder, with only the settings that goalwright wrote."""
        npmrc = build.work / "npmrc"
        npmrc.write_text(self.settings.npmrc, encoding="utf-8")
        files = (f"--userconfig={npmrc}", f"--globalconfig={build.work / 'none'}", f"--cache={build.work / 'cache'}")
        program = (self.node, self.program) if self.program.endswith(".js") else (self.program,)
        argv = (*program, *arguments, f"--prefix={build.path}", *files, *QUIET)
        prefixes = (*toolchain.installed(self.node), *toolchain.installed(self.program))
        env = {**self.settings.env, "npm_config_git": NO_GIT, "npm_config_allow_git": "none"}
        env["PATH"] = f"{Path(self.node).parent}:/usr/local/bin:/usr/bin:/bin"
        await build_cache.run_step(
            build, BuildStep(f"npm {arguments[0]}", Command(argv, (*prefixes, *self.settings.reads)), env, network=True)
        )


def _write(path: Path, document: Mapping[str, Any]) -> None:
    path.unlink(missing_ok=True)
    path.write_text(json.dumps(document, indent=1), encoding="utf-8")


NAMES = ("registry", "proxy", "https-proxy", "noproxy", "cafile", "ca", "strict-ssl", "fetch-retries", "fetch-timeout")
_SCOPE = re.compile(r"@[\w.~-]+:registry")
_CREDENTIAL = re.compile(r"//(?P<host>[^/]+)/.*:(?:_authToken|_auth|username|_password|certfile|keyfile|always-auth)")
_VARIABLE = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class NpmSettings:
    """The npmrc, variables, readable paths and hosts with which npm reaches the user's registries."""

    npmrc: str
    env: Mapping[str, str]
    reads: tuple[Path, ...]
    hosts: frozenset[str]
    key: str


def read_settings(environ: Mapping[str, str], prefix: Path) -> NpmSettings:
    """Read the registry settings of the user's npm; the global settings are below `prefix`."""
    settings: dict[str, str] = {}
    home = Path(environ["HOME"]) if environ.get("HOME") else Path.home()
    for path in (
        _configured_path(environ, "globalconfig") or prefix / "etc/npmrc",
        _configured_path(environ, "userconfig") or home / ".npmrc",
    ):
        settings.update(_parse(path, environ))
    for name in NAMES:
        variable = f"npm_config_{name.replace('-', '_')}"
        value = environ.get(variable) or environ.get(variable.upper())
        if value:
            settings[name] = value
    registries = {name: value for name, value in settings.items() if name == "registry" or _SCOPE.fullmatch(name)}
    kept = {name: value for name, value in settings.items() if name in NAMES or name in registries}
    registry_hosts = {urlsplit(value).netloc.rpartition("@")[2] for value in registries.values()}
    # A credential is passed only to a registry that the user set; the public registry needs none.
    kept |= {
        name: value
        for name, value in settings.items()
        if (m := _CREDENTIAL.fullmatch(name)) and m["host"] in registry_hosts
    }
    connection = connections(environ)
    files = [
        Path(value) for name, value in kept.items() if name == "cafile" or name.endswith((":certfile", ":keyfile"))
    ]
    hosts = frozenset(f"{urlsplit(value).scheme}://{urlsplit(value).netloc}" for value in registries.values())
    npmrc = "".join(f"{name}={value}\n" for name, value in sorted(kept.items()))
    key = "\0".join(f"{name}={value}" for name, value in sorted(registries.items()))
    return NpmSettings(npmrc, connection.env, (*files, *connection.reads), hosts, key)


def _configured_path(environ: Mapping[str, str], name: str) -> Path | None:
    value = environ.get(f"npm_config_{name}") or environ.get(f"NPM_CONFIG_{name.upper()}")
    return Path(value) if value and Path(value).is_absolute() else None


def _parse(path: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """Parse an npmrc and expand its variables."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    settings = {}
    for line in lines:
        name, equals, value = line.strip().partition("=")
        if equals and not name.startswith((";", "#", "[")):
            filled = _VARIABLE.sub(lambda match: environ.get(match[1], ""), value.strip().strip("\"'"))
            settings[name.strip()] = filled
    return settings
