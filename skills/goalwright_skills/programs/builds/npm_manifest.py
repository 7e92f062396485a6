"""A `package.json` and the versions in it: packages on the registry, and nothing that npm would fetch elsewhere."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from goalwright_skills.programs.build_cache import BuildError
from goalwright_skills.programs.builds.verify import read_text

if TYPE_CHECKING:
    from pathlib import Path

KINDS = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
_PART = r"[A-Za-z0-9_~][A-Za-z0-9._~-]*"
_NAME = re.compile(rf"(?:@{_PART}/)?{_PART}")
_RANGE = re.compile(r"[0-9A-Za-z.*^~<>=| +_-]*")
# npm takes these for a path.
_PATH = re.compile(r"^\s*(?:\.|~$)|\.(?:tgz|tar|tar\.gz)\s*$", re.IGNORECASE)
_REMEDY = "name packages on the npm registry with a version or range, such as ^4.17.0"


def read(path: Path) -> dict[str, Any]:
    """The parts of a package.json that npm needs; empty if it names no packages or does not exist."""
    document = read_json(path)
    if document.get("workspaces"):
        raise BuildError(f"{path}: workspaces are not supported", hint="list the packages under dependencies")
    found: dict[str, Any] = {}
    for kind in KINDS:
        if document.get(kind):
            check_packages(document[kind], f"{path}: {kind}")
            found[kind] = document[kind]
    if found and document.get("overrides"):
        _check_overrides(document["overrides"], f"{path}: overrides")
        found["overrides"] = document["overrides"]
    return {"name": "tool", "version": "0.0.0", "private": True, **found} if found else {}


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object in a file; empty if there is no such file."""
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
    """Raise BuildError unless each name has a version of the registry."""
    if not isinstance(packages, dict):
        raise BuildError(f"{where} is not an object", hint=_REMEDY)
    for name, version in packages.items():
        if not is_name(name):
            raise BuildError(f"{where}: {name!r} is not the name of a package", hint=_REMEDY)
        if not is_registry_version(version):
            raise BuildError(f"{where}: {name} {version!r} is not a version on the registry", hint=_REMEDY)


def is_name(name: Any) -> bool:
    """Whether this names a package of the registry."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None and "node_modules" not in name.split("/")


def is_registry_version(version: Any) -> bool:
    """Whether npm would look for this on its registry: a version, range or tag, or another package's by `npm:`."""
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
