"""Validation of `package.json` and `package-lock.json`: only packages of the npm registries are allowed."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from goalwright_skills.programs.build_cache import BuildError
from goalwright_skills.programs.builds.verify import read_text

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path


MANIFEST_KINDS = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
_PART = r"[A-Za-z0-9_~][A-Za-z0-9._~-]*"
_NAME = re.compile(rf"(?:@{_PART}/)?{_PART}")
_RANGE = re.compile(r"[0-9A-Za-z.*^~<>=| +_-]*")
# npm would treat these as paths.
_PATH = re.compile(r"^\s*(?:\.|~$)|\.(?:tgz|tar|tar\.gz)\s*$", re.IGNORECASE)
_REMEDY = "name packages on the npm registry with a version or range, such as ^4.17.0"


def read_manifest(path: Path) -> dict[str, Any]:
    """Read the parts of a package.json that npm needs; empty if it names no packages or does not exist."""
    document = read_json(path)
    if document.get("workspaces"):
        raise BuildError(f"{path}: workspaces are not supported", hint="list the packages under dependencies")
    found: dict[str, Any] = {}
    for kind in MANIFEST_KINDS:
        if document.get(kind):
            check_packages(document[kind], f"{path}: {kind}")
            found[kind] = document[kind]
    if found and document.get("overrides"):
        _check_overrides(document["overrides"], f"{path}: overrides")
        found["overrides"] = document["overrides"]
    return {"name": "tool", "version": "0.0.0", "private": True, **found} if found else {}


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object; empty if there is no such file."""
    text = read_text(path)
    if text is None:
        return {}
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BuildError(f"{path} is not valid JSON ({error})", hint="fix the file") from error
    if not isinstance(document, dict):
        raise BuildError(f"{path} is not a JSON object", hint="fix the file")
    return document


def check_packages(packages: Any, where: str) -> None:
    """Raise BuildError unless every package has a registry name and version."""
    if not isinstance(packages, dict):
        raise BuildError(f"{where} is not an object", hint=_REMEDY)
    for name, version in packages.items():
        if not is_name(name):
            raise BuildError(f"{where}: {name!r} is not a package name", hint=_REMEDY)
        if not is_registry_version(version):
            raise BuildError(f"{where}: {name} {version!r} is not a version on the registry", hint=_REMEDY)


def is_name(name: Any) -> bool:
    """Return whether this is a valid package name."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None and "node_modules" not in name.split("/")


def is_registry_version(version: Any) -> bool:
    """Return whether npm would look this up on its registry: a version, range or tag, or an `npm:` alias."""
    if not isinstance(version, str):
        return False
    if version.startswith("npm:"):
        name, at, version = version.removeprefix("npm:").rpartition("@")
        if not at or not name:
            name, version = name + at + version, ""
        if not is_name(name):
            return False
    return _RANGE.fullmatch(version) is not None and not _PATH.search(version)


def _check_overrides(overrides: Any, where: str) -> None:
    for name, value in overrides.items() if isinstance(overrides, dict) else [("", None)]:
        if isinstance(value, dict):
            _check_overrides(value, where)
        elif not is_registry_version(value.removeprefix("$") if isinstance(value, str) else value):
            raise BuildError(f"{where}: {name} {value!r} is not a version on the registry", hint=_REMEDY)


LOCK_KINDS = ("dependencies", "optionalDependencies", "peerDependencies")
KEPT = (
    "name", "version", "resolved", "integrity", *LOCK_KINDS, "peerDependenciesMeta", "bundleDependencies", "bin",
    "engines", "os", "cpu", "libc", "dev", "optional", "devOptional", "peer", "inBundle", "hasInstallScript", "license",
)  # fmt: skip
PUBLIC = "registry.npmjs.org"
_PACKAGE_FOLDER = re.compile(r"(?:^|/)node_modules/")
_VERSION = re.compile(r"\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]*)?")
_TARBALL = re.compile(r"/(?:@[^/]+/)?[^/]+/-/[^/]+\.tgz")
_REGENERATE = "run `npm install --package-lock-only` with npm 7 or newer, using only packages of the registry"


def checked_lock(
    document: dict[str, Any], path: Path, manifest: dict[str, Any], hosts: Collection[str]
) -> dict[str, Any]:
    """Return a lock with the validated entries; raises BuildError at the first package that is not from a registry."""
    packages = document.get("packages")
    if not isinstance(packages, dict):
        raise BuildError(f"{path} has no `packages`", hint=_REGENERATE)
    root = {name: value for name, value in manifest.items() if name in {"name", "version", *MANIFEST_KINDS}}
    found: dict[str, Any] = {"": root}
    for location, entry in packages.items():
        if location:
            _check_entry(location, entry, path, hosts)
            found[location] = {key: entry[key] for key in KEPT if key in entry}
    return {"name": "tool", "version": "0.0.0", "lockfileVersion": 3, "requires": True, "packages": found}


def _check_entry(location: str, entry: Any, path: Path, hosts: Collection[str]) -> None:
    where = f"{path}: {location}"
    names = _PACKAGE_FOLDER.split(location)[1:]
    if not location.startswith("node_modules/") or not all(map(is_name, names)):
        raise BuildError(f"{where} is not a folder of packages", hint=_REGENERATE)
    if not isinstance(entry, dict) or entry.get("link"):
        raise BuildError(f"{where} is a link to a folder", hint=_REGENERATE)
    if "name" in entry and not is_name(entry["name"]):
        raise BuildError(f"{where}: {entry['name']!r} is not a package name", hint=_REGENERATE)
    version = entry.get("version")
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        raise BuildError(f"{where}: {version!r} is not a version on the registry", hint=_REGENERATE)
    if "resolved" in entry and not _is_registry_tarball(entry["resolved"], hosts):
        raise BuildError(f"{where} comes from {entry['resolved']!r}, not from the registry", hint=_REGENERATE)
    for kind in LOCK_KINDS:
        if kind in entry:
            check_packages(entry[kind], f"{where}: {kind}")


def _is_registry_tarball(url: Any, hosts: Collection[str]) -> bool:
    """Return whether a URL is a tarball on npm's registry, or is on the host of a registry that the user set."""
    if not isinstance(url, str):
        return False
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    if f"{parts.scheme}://{parts.netloc}" in hosts:
        return True
    return (parts.scheme, parts.netloc) == ("https", PUBLIC) and _TARBALL.fullmatch(parts.path) is not None
