"""Fixes mechanical problems: names that differ from their folder, tools' spelling, line ends, `$ARGUMENTS`, modes."""

from __future__ import annotations

import contextlib
import json
import re
from typing import TYPE_CHECKING

from goalwright_skills import untrusted_files
from goalwright_skills.check.parts import Parts, misspelt, split
from goalwright_skills.programs import manifest_file as manifests
from goalwright_skills.programs.manifest import FILE, domain
from goalwright_skills.skill import fits
from goalwright_skills.tools.tool import NAME, NAME_LIMIT

if TYPE_CHECKING:
    from pathlib import Path


def fix(folder: Path, *, root: bool = False) -> list[str]:
    """Fix mechanical problems in a skill's folder, keep every other byte, and return a line for each change.

    With `root`, the skill is at the workspace's root and need not have its folder's name.
    """
    changes = []
    file = folder / "SKILL.md"
    if file.is_file() and not file.is_symlink():  # a link's target belongs to another folder
        with contextlib.suppress(UnicodeDecodeError, OSError):  # a file in another encoding is left to its author
            before = untrusted_files.read(file).decode()
            after, fixes = fixed(before, "" if root else folder.resolve().name)
            if after != before:
                file.write_bytes(after.encode())
                changes += [f"{file}: {line}" for line in fixes]
    return [*changes, *_names(folder), *_programs(folder)]


def fixed(text: str, folder: str) -> tuple[str, list[str]]:
    """Fix mechanical problems in the text of a SKILL.md; returns the new text and a line for each change."""
    done = []
    plain = text.lstrip("\ufeff").replace("\r\n", "\n")
    if plain != text:
        done.append("normalized line endings and the byte-order mark")
    parts = split(plain)
    if not isinstance(parts, Parts):
        quoted = _quoted(plain)
        parts = split(quoted)
        if not isinstance(parts, Parts):
            return plain, done
        plain = quoted
        done.append("put the description in quotes")
    head, body = plain[: len(plain) - len(parts.body)], parts.body
    if fits(folder) and isinstance(parts.data.get("name"), str) and parts.data["name"] != folder:
        head = re.sub(r"^name:.*$", f"name: {folder}", head, count=1, flags=re.MULTILINE)
        done.append(f"changed the name to {folder}, its folder's name")
    pieces, position = [], 0
    for match in misspelt(body):
        pieces.append(body[position : match.start()])
        position = match.end()
    new_body = "$ARGUMENTS".join((*pieces, body[position:]))
    if new_body != body:
        done.append("corrected the spelling of $ARGUMENTS")
    return head + new_body, done


def _quoted(text: str) -> str:
    """Put a one-line description in quotes: an unquoted colon in it is the most frequent YAML error."""
    return re.sub(
        r"^description:[ \t]+(?![\"'|>\[{!])(.+?)[ \t]*$",
        lambda match: f"description: {json.dumps(match[1], ensure_ascii=False)}",
        text,
        count=1,
        flags=re.MULTILINE,
    )


def _names(folder: Path) -> list[str]:
    """Write tools' names in lower case and with `_`, if that makes them valid."""
    problems = [problem for problem in manifests.read(folder)[1] if problem.rule == "manifest-name" and problem.tool]
    names = {problem: re.sub(r"[^a-z0-9]+", "_", problem.tool.lower()).strip("_") for problem in problems}
    renames = {problem: name for problem, name in names.items() if name != problem.tool and _fits(name, folder)}
    file = folder / FILE
    if not renames or file.is_symlink():
        return []
    lines = untrusted_files.read(file).decode().split("\n")
    for problem, name in renames.items():
        lines[problem.line - 1] = lines[problem.line - 1].replace(problem.tool, name, 1)
    file.write_bytes("\n".join(lines).encode())
    return [f"{file}: changed {problem.tool} to {name}" for problem, name in renames.items()]


def _fits(name: str, folder: Path) -> bool:
    return NAME.fullmatch(name) is not None and len(name) <= NAME_LIMIT and name.startswith(domain(folder) + "_")


def _programs(folder: Path) -> list[str]:
    """Make binaries executable."""
    done = []
    for manifest in manifests.read(folder)[0]:
        path = manifest.entry_path
        if manifest.runtime == "binary" and not path.stat().st_mode & 0o100:
            path.chmod(path.stat().st_mode | 0o755)
            done.append(f"{path}: made executable")
    return done
