"""Finds suspicious content in a skill that is imported."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright_skills import untrusted_files
from goalwright_skills.format.frontmatter import decode

if TYPE_CHECKING:
    from collections.abc import Iterator

TEXT_LIMIT = 2 * 1024 * 1024
MAX_FINDINGS = 200

# Zero-width and bidirectional controls, fillers, tag characters and supplementary variation selectors.
_HIDDEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\u3164"
    "\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e007f\U000e0100-\U000e01ef]"
)
_JOINED = re.compile("(?<=[\u2190-\U0001ffff\ufe0f])\u200d(?=[\u2190-\U0001ffff])")
_COMMENT = re.compile(r"<!--(.*?)(?:-->|\Z)", re.DOTALL)
_INSTRUCTION = re.compile(
    r"\b(?:ignore|disregard|forget|override|instead|must|always|never|do not|don't|secretly|silently|"
    r"without (?:telling|asking)|run|execute|send|upload|post|fetch|download|read|delete|password|token|"
    r"secret|system prompt|instructions?|assistant|you are)\b",
    re.IGNORECASE,
)
_LINES = (
    (
        "pipe-to-shell",
        re.compile(
            r"\b(?:curl|wget|fetch|irm|iwr|invoke-webrequest|base64)\b[^\n|;]*\|\s*(?:sudo\s+)?(?:env\s+)?"
            r"(?:/\S*/)?(?:ba|z|da|k|fi)?sh\b|\b(?:curl|wget)\b[^\n]*\|\s*(?:sudo\s+)?(?:python|perl|ruby|node)|"
            r"(?:ba|z|da)?sh\s+(?:-c\s+)?[\"']?(?:<\(|\$\()\s*(?:curl|wget)|\beval\s+[\"']?\$\((?:curl|wget)|\biex\b.*\b(?:irm|iwr|downloadstring)\b|"
            r"\b(?:irm|iwr)\b[^\n|]*\|\s*iex\b",
            re.IGNORECASE,
        ),
        "a download is run without review",
    ),
    (
        "credentials",
        re.compile(
            r"\.ssh/|\bid_(?:rsa|ed25519|ecdsa|dsa)\b|\.aws/(?:credentials|config)|\.netrc\b|\.pgpass\b|\.git-credentials\b|\.npmrc\b|"
            r"\.pypirc\b|\.docker/config\.json|\.kube/config|\.config/gcloud|\.azure/|\.gnupg\b|/etc/(?:passwd|shadow|sudoers)\b|"
            r"\bkeychain\b|Login Data\b|\.claude/\.credentials|\.config/gh/hosts|wallet\.dat\b",
            re.IGNORECASE,
        ),
        "it names a place where credentials are stored",
    ),
)


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A suspicious place in a file: the rule that it matches, and a description."""

    path: str
    line: int
    rule: str
    what: str


def examine(folder: Path) -> list[Suspicion]:
    """Return the suspicious places in a folder's files, in path order, up to a limit."""
    results: list[Suspicion] = []
    for parent, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            path = Path(parent) / name
            results += _file(path, path.relative_to(folder).as_posix())
            if len(results) > MAX_FINDINGS:
                last = Suspicion("", 0, "more", f"more than {MAX_FINDINGS} findings: the others are not shown")
                return [*results[:MAX_FINDINGS], last]
    return results


def suspicions(text: str, path: str = "SKILL.md") -> Iterator[Suspicion]:
    """Yield the suspicious places in a text."""
    text = text.removeprefix("\ufeff")
    shown = _JOINED.sub("", text)
    for number, line in enumerate(shown.split("\n"), 1):
        hidden = sorted({f"U+{ord(char):04X}" for char in _HIDDEN.findall(line)})
        if hidden:
            yield Suspicion(path, number, "hidden-unicode", f"invisible characters: {', '.join(hidden[:5])}")
        for rule, form, what in _LINES:
            match = form.search(line[:5_000])
            if match is not None:
                yield Suspicion(path, number, rule, f"{what}: {match[0][:80]!r}")
    number, counted = 1, 0
    for comment in _COMMENT.finditer(text):
        match = _INSTRUCTION.search(comment[1])
        if match is not None:
            number, counted = number + text.count("\n", counted, comment.start()), comment.start()
            what = f"a hidden comment contains instructions: {_brief(comment[1])!r}"
            yield Suspicion(path, number, "hidden-comment", what)


def _file(path: Path, shown: str) -> list[Suspicion]:
    try:
        with os.fdopen(untrusted_files.open_regular(path, sys.maxsize), "rb") as file:
            data = file.read(TEXT_LIMIT + 1)
    except OSError as error:
        return [Suspicion(shown, 0, "unreadable", f"it cannot be read: {error.strerror}")]
    if b"\0" in data[:8_192]:
        return [Suspicion(shown, 0, "binary", "a binary file, which cannot be reviewed")]
    results = list(islice(suspicions(decode(data), shown), MAX_FINDINGS + 1))
    if len(data) > TEXT_LIMIT:
        results.append(Suspicion(shown, 0, "large", f"only its first {TEXT_LIMIT} bytes were checked"))
    return results


def _brief(text: str) -> str:
    return " ".join(text.split())[:80]
