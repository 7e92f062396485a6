"""A `package-lock.json`: goalwright writes its own from it, with packages of the user's registries alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from goalwright_skills.programs.build_cache import BuildError
from goalwright_skills.programs.builds import npm_manifest

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

KINDS = ("dependencies", "optionalDependencies", "peerDependencies")
KEPT = (
    "name", "version", "resolved", "integrity", *KINDS, "peerDependenciesMeta", "bundleDependencies", "bin", "engines",
    "os", "cpu", "libc", "dev", "optional", "devOptional", "peer", "inBundle", "hasInstallScript", "license",
)  # fmt: skip
PUBLIC = "registry.npmjs.org"
_PLACE = re.compile(r"(?:^|/)node_modules/")
_VERSION = re.compile(r"\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]*)?")
_TARBALL = re.compile(r"/(?:@[^/]+/)?[^/]+/-/[^/]+\.tgz")
_AGAIN = "run `npm install --package-lock-only` with npm 7 or newer, with packages of the registry alone"


def checked(document: dict[str, Any], path: Path, manifest: dict[str, Any], hosts: Collection[str]) -> dict[str, Any]:
    """The lock for a manifest that goalwright wrote; raises BuildError at the first package from elsewhere."""
    packages = document.get("packages")
    if not isinstance(packages, dict):
        raise BuildError(f"{path} has no `packages`", hint=_AGAIN)
    root = {name: value for name, value in manifest.items() if name in {"name", "version", *npm_manifest.KINDS}}
    found: dict[str, Any] = {"": root}
    for place, entry in packages.items():
        if place:
            _check(place, entry, path, hosts)
            found[place] = {key: entry[key] for key in KEPT if key in entry}
    return {"name": "tool", "version": "0.0.0", "lockfileVersion": 3, "requires": True, "packages": found}


def _check(place: str, entry: Any, path: Path, hosts: Collection[str]) -> None:
    where = f"{path}: {place}"
    names = _PLACE.split(place)[1:]
    if not place.startswith("node_modules/") or not all(map(npm_manifest.is_name, names)):
        raise BuildError(f"{where} is not a folder of packages", hint=_AGAIN)
    if not isinstance(entry, dict) or entry.get("link"):
        raise BuildError(f"{where} is a link to a folder", hint=_AGAIN)
    if "name" in entry and not npm_manifest.is_name(entry["name"]):
        raise BuildError(f"{where}: {entry['name']!r} is not the name of a package", hint=_AGAIN)
    version = entry.get("version")
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        raise BuildError(f"{where}: {version!r} is not a version on the registry", hint=_AGAIN)
    if "resolved" in entry and not _is_registry_tarball(entry["resolved"], hosts):
        raise BuildError(f"{where} comes from {entry['resolved']!r}, not from the registry", hint=_AGAIN)
    for kind in KINDS:
        if kind in entry:
            npm_manifest.check_packages(entry[kind], f"{where}: {kind}")


def _is_registry_tarball(address: Any, hosts: Collection[str]) -> bool:
    """Whether an address is a tarball of npm's registry, or on the host of a registry that the user chose."""
    if not isinstance(address, str):
        return False
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    if f"{parts.scheme}://{parts.netloc}" in hosts:
        return True
    return (parts.scheme, parts.netloc) == ("https", PUBLIC) and _TARBALL.fullmatch(parts.path) is not None
