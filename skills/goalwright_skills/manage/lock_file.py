"""`.agents/skills.lock`: the origin, commit and hash of each imported skill.

The file is in the workspace and therefore untrusted: nothing is fetched merely because it is listed there.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright_skills import safe_files, untrusted_files
from goalwright_skills.errors import InputError
from goalwright_skills.format.documents import parse_json

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "skills.lock"
_LARGEST = 5_000_000
_LARGEST_FILE = 200_000_000


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a skill came from: an address with an optional `#path`, a commit, and the hash of its files."""

    url: str
    commit: str
    sha256: str


def read(workspace: Path) -> dict[str, Origin]:
    """Return the recorded origins by skill; raises InputError if the file is unreadable."""
    path = workspace / ".agents" / NAME
    try:
        rows = parse_json(untrusted_files.read(path, _LARGEST))["skills"]
        return {
            str(name): Origin(str(row["url"]), str(row["commit"]), str(row["sha256"])) for name, row in rows.items()
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path} cannot be read: {error}", hint="delete it, and import the skills again") from error


def write(workspace: Path, origins: Mapping[str, Origin]) -> None:
    """Write the origins, sorted by name."""
    rows = {name: asdict(origins[name]) for name in sorted(origins)}
    text = json.dumps({"version": 1, "skills": rows}, indent=2) + "\n"
    safe_files.write(workspace / ".agents" / NAME, text, below=safe_files.nearest(workspace))


def record(workspace: Path, name: str, origin: Origin) -> None:
    """Add a skill's origin."""
    write(workspace, read(workspace) | {name: origin})


def fingerprint(folder: Path) -> str:
    """Return a hash of a folder's files: their names, contents and executable bits."""
    digest = hashlib.sha256()
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(parent) / name
            if path.is_symlink() or not path.is_file():
                continue
            content = hashlib.sha256(untrusted_files.read(path, _LARGEST_FILE)).hexdigest()
            mark = "x" if path.stat().st_mode & 0o100 else "-"
            digest.update(f"{path.relative_to(folder).as_posix()}\0{mark}\0{content}\n".encode())
    return digest.hexdigest()
