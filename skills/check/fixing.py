"""Mend what is mechanical: a name by its folder, a tool's spelling, line ends, a placeholder, a program's mode."""

from __future__ import annotations

import contextlib
import json
import re
from typing import TYPE_CHECKING

from skills.check.parts import Parts, misspelt, split
from skills.format.names import fits
from skills.programs import manifest_file as manifests
from skills.programs.manifest import FILE, NAME, NAME_LIMIT, domain

if TYPE_CHECKING:
    from pathlib import Path


def fix(folder: Path, *, root: bool = False) -> list[str]:
    """Mend a skill's folder; says what was done, and leaves everything else byte for byte.

    One at a workspace's root has no folder's name to take.
    """
    done = []
    file = folder / "SKILL.md"
    if file.is_file():
        with contextlib.suppress(UnicodeDecodeError):  # what is not UTF-8 is left to its author
            before = file.read_bytes().decode()
            after, what = mended(before, "" if root else folder.resolve().name)
            if after != before:
                file.write_bytes(after.encode())
                done += [f"{file}: {line}" for line in what]
    return [*done, *_names(folder), *_programs(folder)]


def mended(text: str, folder: str) -> tuple[str, list[str]]:
    """A SKILL.md's text with its mechanical faults mended, and what was done."""
    done = []
    plain = text.lstrip("\ufeff").replace("\r\n", "\n")
    if plain != text:
        done.append("plain line ends, no byte-order mark")
    parts = split(plain)
    if not isinstance(parts, Parts):
        quoted = _quoted(plain)
        parts = split(quoted)
        if not isinstance(parts, Parts):
            return plain, done
        plain = quoted
        done.append("the description is in quotation marks")
    head, body = plain[: len(plain) - len(parts.body)], parts.body
    if fits(folder) and isinstance(parts.data.get("name"), str) and parts.data["name"] != folder:
        head = re.sub(r"^name:.*$", f"name: {folder}", head, count=1, flags=re.MULTILINE)
        done.append(f"name is now {folder}, as its folder's")
    spelt = body
    for match in reversed(list(misspelt(body))):
        spelt = f"{spelt[: match.start()]}$ARGUMENTS{spelt[match.end() :]}"
    if spelt != body:
        done.append("$ARGUMENTS is spelt right")
    return head + spelt, done


def _quoted(text: str) -> str:
    """A description on one line in quotation marks: a colon in it is what most often breaks the YAML."""
    return re.sub(
        r"^description:[ \t]+(?![\"'|>\[{!])(.+?)[ \t]*$",
        lambda match: f"description: {json.dumps(match[1], ensure_ascii=False)}",
        text,
        count=1,
        flags=re.MULTILINE,
    )


def _names(folder: Path) -> list[str]:
    """Tools' names in lower case and with `_`, where that is all that is wrong with them."""
    wrong = [one for one in manifests.read(folder)[1] if one.rule == "manifest-name" and one.tool]
    spelt = {one: re.sub(r"[^a-z0-9]+", "_", one.tool.lower()).strip("_") for one in wrong}
    right = {one: name for one, name in spelt.items() if name != one.tool and _fits(name, folder)}
    if not right:
        return []
    file = folder / FILE
    lines = file.read_bytes().decode().split("\n")
    for one, name in right.items():
        lines[one.line - 1] = lines[one.line - 1].replace(one.tool, name, 1)
    file.write_bytes("\n".join(lines).encode())
    return [f"{file}: {one.tool} is now {name}" for one, name in right.items()]


def _fits(name: str, folder: Path) -> bool:
    return NAME.fullmatch(name) is not None and len(name) <= NAME_LIMIT and name.startswith(domain(folder) + "_")


def _programs(folder: Path) -> list[str]:
    """A binary that may not be executed may be."""
    done = []
    for manifest in manifests.read(folder)[0]:
        path = manifest.entry_path
        if manifest.runtime == "binary" and not path.stat().st_mode & 0o100:
            path.chmod(path.stat().st_mode | 0o755)
            done.append(f"{path}: may be executed now")
    return done
