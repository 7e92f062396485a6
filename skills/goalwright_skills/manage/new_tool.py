"""Writes a new, working tool from a template."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright_skills import safe_files
from goalwright_skills.errors import InputError
from goalwright_skills.programs.manifest import domain
from goalwright_skills.tools.tool import NAME_LIMIT

if TYPE_CHECKING:
    from goalwright_skills.programs.manifest import Runtime

TEMPLATES = Path(__file__).parents[1] / "templates"
FORM = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*")


def new(name: str, runtime: Runtime, parent: Path) -> list[Path]:
    """Write a tool's folder into `parent`; a name with `_` is the tool's name, any other name the folder's."""
    if not FORM.fullmatch(name) or len(name) > NAME_LIMIT - 4:
        hint = "use lower-case letters and digits: a folder such as word-count, or a tool such as word_count"
        raise InputError(f"{name!r} is not a valid tool name", hint=hint)
    folder = parent / (name.split("_", 1)[0] if "_" in name else name)
    tool = name.replace("-", "_") if "_" in name else f"{domain(folder)}_run"
    if os.path.lexists(folder):
        hint = "choose another name, or add the tool to its skill.yaml, under `tools:`"
        raise InputError(f"{folder} already exists", hint=hint)
    source = TEMPLATES / runtime
    safe_files.make_folder(folder, below=safe_files.nearest(parent.parent))
    written = []
    for path in sorted(path for path in source.iterdir() if path.is_file()):  # pip may create a __pycache__ there
        target = folder / path.name.removesuffix(".in")  # the suffix keeps scans from finding templates as tools
        text = path.read_text(encoding="utf-8")
        target.write_text(text.replace("__TOOL__", tool).replace("__DOMAIN__", folder.name), encoding="utf-8")
        shutil.copymode(path, target)
        if runtime == "binary" and not target.suffix:
            target.chmod(0o755)  # an installed template may have lost its mode
        written.append(target)
    return written
