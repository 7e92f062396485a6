"""One bounded edit of a SKILL.md: a text that stands in it once, and what stands there instead."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from goalwright_skills.format import frontmatter

SCHEMA = {
    "type": "object",
    "properties": {"old": {"type": "string"}, "new": {"type": "string"}, "why": {"type": "string"}},
    "required": ["old", "new", "why"],
    "additionalProperties": False,
}
_LONGEST = 20_000
_NEWLINE = re.compile(r"\r\n|\r|\n")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


class BadEdit(ValueError):
    """Why an edit cannot be made."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of one place, and the reason for it."""

    old: str
    new: str
    why: str = ""

    def to_dict(self) -> dict[str, str]:
        """The edit as `--json` prints it."""
        return {"old": self.old, "new": self.new, "why": self.why}

    @property
    def added(self) -> list[str]:
        """The lines that were not there before."""
        before = set(self.old.splitlines())
        return [line for line in self.new.splitlines() if line.strip() and line not in before]


def read_edit(value: Any) -> Edit:
    """The edit in a model's answer; raises BadEdit if it is none."""
    if not isinstance(value, Mapping) or not all(isinstance(value.get(key), str) for key in ("old", "new")):
        raise BadEdit('it is not an object with the texts "old", "new" and "why"')
    if len(value["new"]) > _LONGEST:
        raise BadEdit(f"its text has more than {_LONGEST:,} characters")
    return Edit(value["old"], value["new"], str(value.get("why") or ""))


def applied(edit: Edit, text: str, *, most_lines: int, description: bool) -> str:
    """The SKILL.md with the edit; raises BadEdit if it is not one bounded change of one place."""
    places = list(_passage(edit.old).finditer(text)) if edit.old.strip() else []
    if len(places) != 1:
        raise BadEdit(f"'old' stands {len(places)} times in the SKILL.md, and must stand there once")
    start, end = places[0].span()
    used = _NEWLINE.search(text, start, end) or _NEWLINE.search(text)
    changed = text[:start] + _NEWLINE.sub(used[0] if used else "\n", edit.new) + text[end:]
    if changed == text:
        raise BadEdit("it changes nothing")
    lines = changed_lines(text, changed)
    if lines > most_lines:
        raise BadEdit(f"it changes {lines} lines, more than {most_lines}")
    before, after = _head(text), _head(changed)
    if description:
        before.pop("description", None)
        after.pop("description", None)
    if before != after:
        keys = sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))
        allowed = "" if description else "; --description lets the description change"
        raise BadEdit(f"it changes the frontmatter ({', '.join(keys) or 'its form'}){allowed}")
    return changed


def plain(text: str) -> str:
    """A text with plain line ends, as a model is shown it and quotes it."""
    return _NEWLINE.sub("\n", text)


def changed_lines(before: str, after: str) -> int:
    """How many lines are removed or added."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    return sum(line[:1] in "+-" and not line.startswith(("+++", "---")) for line in lines)


def patch(before: str, after: str, path: str) -> str:
    """The change as a unified diff."""
    lines = difflib.unified_diff(_LINE.findall(before), _LINE.findall(after), f"a/{path}", f"b/{path}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _passage(text: str) -> re.Pattern[str]:
    """Finds a passage, whatever its line ends are."""
    return re.compile(f"(?:{_NEWLINE.pattern})".join(map(re.escape, _NEWLINE.split(text))))


def _head(text: str) -> dict[str, str]:
    """The frontmatter as it is written, by key; an edit must not touch what is not the description."""
    found: dict[str, str] = {}
    key = ""
    for line in frontmatter.split(text).block.splitlines():
        if line[:1] not in (" ", "\t", "#", "-", "") and ":" in line:
            key = line.partition(":")[0].strip()
        found[key] = found.get(key, "") + line + "\n"
    return found
