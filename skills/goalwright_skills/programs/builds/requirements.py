"""A tool's `requirements.txt`: packages by name, and nothing that pip would read, fetch or run from elsewhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from goalwright_skills.programs.build_cache import BuildError
from goalwright_skills.programs.builds.verify import read_text

if TYPE_CHECKING:
    from pathlib import Path

_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
_VERSION = (
    r"v?(?:\d+!)?\d+(?:\.\d+)*(?:[-_.]?(?:a|b|c|rc|alpha|beta|pre|preview)[-_.]?\d*)?"
    r"(?:-\d+|[-_.]?(?:post|rev|r)[-_.]?\d*)?(?:[-_.]?dev[-_.]?\d*)?(?:\+[a-z0-9]+(?:[-_.][a-z0-9]+)*)?"
)
_SPECIFIER = rf"(?:~=|===?|!=|<=|>=|<|>)\s*{_VERSION}(?:\.\*)?"
_REQUIREMENT = re.compile(
    rf"(?P<name>{_NAME})\s*(?:\[\s*(?P<extras>{_NAME}(?:\s*,\s*{_NAME})*)\s*\])?\s*"
    rf"(?P<specifiers>{_SPECIFIER}(?:\s*,\s*{_SPECIFIER})*)?\s*(?:;(?P<marker>.*))?",
    re.IGNORECASE | re.ASCII,
)
_MARKER = re.compile(
    r"""(?:\s*(?:[()]|===?|~=|!=|<=|>=|<|>|\b(?:and|or|not|in)\b|'[\w .+*!-]*'|"[\w .+*!-]*"|
    \b(?:python_version|python_full_version|os_name|sys_platform|platform_release|platform_system|platform_version|
    platform_machine|platform_python_implementation|implementation_name|implementation_version|extra)\b))+\s*""",
    re.VERBOSE | re.ASCII,
)
_COMMENT = re.compile(r"(?:^|\s)#.*$")
# pip takes a requirement with such an end for a file.
_ARCHIVE = re.compile(r"\.(?:whl|zip|tar|tgz|tbz|txz|tlz|(?:tar\.)?(?:gz|bz2|xz|lzma|lz))$", re.IGNORECASE)
_REMEDY = "write a package's name, extras and versions alone, such as openpyxl>=3.1 or httpx[http2]==0.28.1"


def parse(text: str, path: Path) -> tuple[str, ...]:
    """The requirements in a text, in one form, sorted; raises BuildError with the first line that is anything else."""
    found = set()
    for number, raw in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        line = _COMMENT.sub("", raw).strip()
        if line:
            found.add(_requirement(line, f"{path}:{number}"))
    return tuple(sorted(found))


def read(path: Path) -> tuple[str, ...]:
    """The requirements in a file; empty if there is no such file."""
    text = read_text(path)
    return () if text is None else parse(text, path)


def _requirement(line: str, where: str) -> str:
    matched = _REQUIREMENT.fullmatch(line)
    if matched is None:
        raise BuildError(f"{where}: {line} {_fault(line)}", hint=_REMEDY)
    marker = (matched["marker"] or "").strip()
    if matched["marker"] is not None and not _MARKER.fullmatch(marker):
        hint = "write one such as `; python_version < '3.12'`, or leave it out"
        raise BuildError(f"{where}: {marker or ';'} is not an environment marker that goalwright knows", hint=hint)
    extras = ",".join(sorted(_canonical(extra) for extra in (matched["extras"] or "").split(",") if extra.strip()))
    specifiers = ",".join(sorted(re.sub(r"\s", "", matched["specifiers"] or "").split(",")))
    package = _canonical(matched["name"]) + (f"[{extras}]" if extras else "") + specifiers
    if _ARCHIVE.search(package) or _ARCHIVE.search(matched["name"]):
        raise BuildError(f"{where}: {line} looks like a file, not a package on the index", hint=_REMEDY)
    return f"{package} ; {marker}" if marker else package


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def _fault(line: str) -> str:
    """What is wrong with a line that is not a requirement."""
    if line.endswith("\\"):
        return "continues on the next line, which goalwright does not read"
    if line.startswith("-") or re.search(r"\s--?\w", line):
        return "is or has an option of pip; only packages may be named"
    return "is not a package on the index"
