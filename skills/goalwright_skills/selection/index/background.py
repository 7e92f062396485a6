"""Indexes a large collection in a process of low priority, segment by segment.

    wanted.json   the skills to index, written by the caller that starts the process
    lock          held by the process: there is one per folder, and others exit at once
    *.bin         the segments, each replaced atomically, so that a killed process leaves the finished ones

The process outlives the command that started it, and exits when all skills are indexed.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import msgspec

from goalwright_skills import untrusted_files
from goalwright_skills.discovery.index import write
from goalwright_skills.errors import SetupError
from goalwright_skills.file_lock import try_lock
from goalwright_skills.selection.encoder import Table
from goalwright_skills.selection.index import postings, stored
from goalwright_skills.selection.index.building import not_collected
from goalwright_skills.skill import Kind, Skill, Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from goalwright_skills.selection.index.postings import Postings

VERSION = 1
# The process gives up after this time.
LONGEST_SECONDS = 3_600
_LOWEST_PRIORITY = 19
_WANTED_LIMIT = 1_000_000_000
_PASSED = ("HOME", "LANG", "LC_ALL", "PATH", "TMPDIR", "USER")
_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    f"from {__name__} import work; from pathlib import Path; work(Path(sys.argv[2]))"
)


def start(folder: Path, skills: Sequence[Skill]) -> int:
    """Index these skills in another process and return its id, or 0 if one is running for this folder already.

    Raises OSError if the folder is not writable or no process can be started.
    """
    want(folder, skills)
    with held(folder) as ours:
        if not ours:
            return 0
    silent = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
    env = {name: os.environ[name] for name in _PASSED if name in os.environ}
    path = json.dumps([entry for entry in sys.path if Path(entry).is_absolute()])
    command = [sys.executable, "-I", "-c", _PROGRAM, path, str(folder.absolute())]
    return os.posix_spawn(sys.executable, command, env, file_actions=silent, setsid=True)


def want(folder: Path, skills: Sequence[Skill]) -> None:
    """Write the skills to index; a running process switches to them."""
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / "wanted.json", _written(skills))


def can_start(encoder: str) -> bool:
    """Whether this system can start such a process, which would use this encoder."""
    table = _table()
    return hasattr(os, "posix_spawn") and encoder == (table.name if table is not None else "")


def ended(process: int) -> bool:
    """Whether a process that `start` returned has exited; reaps it."""
    try:
        return os.waitpid(process, os.WNOHANG)[0] == process
    except ChildProcessError:
        return True


def work(folder: Path) -> None:
    """Index the wanted skills of a folder, unless another process does; runs in the process that `start` creates."""
    with contextlib.suppress(OSError, AttributeError):
        os.nice(_LOWEST_PRIORITY)
    with held(folder) as ours:
        if not ours:
            return
        for temporary in folder.glob(".goalwright-*"):
            with contextlib.suppress(OSError):
                temporary.unlink()
        until = time.monotonic() + LONGEST_SECONDS
        while not index(folder, until):
            pass


def index(folder: Path, until: float) -> bool:
    """Build the missing and outdated segments; False if other skills are wanted meanwhile."""
    wanted = folder / "wanted.json"
    mark = wanted.stat().st_mtime_ns
    skills = _read(wanted)
    old = stored.read_starts(folder)
    starts = stored.segment_starts(skills, old)
    if starts != old:
        write(stored.manifest(folder), stored.manifest_bytes(starts))
    table = _table()
    for start, group in zip(starts, stored.split_by_start(skills, starts), strict=True):
        if time.monotonic() > until:
            return True
        if wanted.stat().st_mtime_ns != mark:
            return False
        _segment(folder, start, group, old, table)
    kept = {stored.segment_file(folder, start).name for start in starts}
    for file in folder.glob("*.bin"):
        if file.name not in kept:
            file.unlink()
    return True


def _segment(folder: Path, start: str, group: Sequence[Skill], old: Sequence[str], table: Table | None) -> None:
    """Build one segment, unless it is current; unchanged texts are taken from the file that had them before."""
    from goalwright_skills.selection.index import building

    path = stored.segment_file(folder, start)
    before = postings.open_file(path)
    if not group or stored.is_current(before, group, building.encoder_name(table)):
        return
    source = before or _containing(folder, start, old)
    write(path, building.build(group, table, source, among_others=True))


def _containing(folder: Path, start: str, old: Sequence[str]) -> Postings | None:
    """Return the segment that had these skills before it was split."""
    above = max((old_start for old_start in old if old_start <= start), default="")
    return postings.open_file(stored.segment_file(folder, above))


def _table() -> Table | None:
    try:
        return Table.shipped()
    except SetupError:
        return None


@contextlib.contextmanager
def held(folder: Path) -> Iterator[bool]:
    """Hold the folder's lock; yields whether it was free."""
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        yield try_lock(descriptor)
    finally:
        os.close(descriptor)


def _written(skills: Sequence[Skill]) -> bytes:
    with not_collected():
        rows = [(s.name, s.description, s.file, s.source, s.kind, _raw(s.extra), s.stamp) for s in skills]
        try:
            return msgspec.json.encode({"version": VERSION, "skills": rows})
        except UnicodeEncodeError:  # half of a surrogate pair, which `json` writes as an escape
            plain = [(*row[:5], skill.extra, row[6]) for row, skill in zip(rows, skills, strict=True)]
            return json.dumps({"version": VERSION, "skills": plain}).encode()


def _raw(extra: Mapping[str, object]) -> object:
    """Encode other frontmatter like `json`: msgspec differs for values such as infinite numbers."""
    return extra if set(map(type, extra.values())) <= {str} else msgspec.Raw(json.dumps(extra).encode())


def _read(path: Path) -> list[Skill]:
    """Read the skills of a file; raises ValueError if it is corrupt."""
    document = json.loads(untrusted_files.read(path, _WANTED_LIMIT))
    if document["version"] != VERSION:
        raise ValueError(document["version"])
    return [_skill(*row) for row in document["skills"]]


def _skill(
    name: str, description: str, file: str, source: Source, kind: Kind, extra: dict[str, object], stamp: int
) -> Skill:
    texts = (name, description, file)
    known = source in get_args(Source) and kind in get_args(Kind)
    if not (known and all(isinstance(text, str) for text in texts) and isinstance(extra, dict)):
        raise ValueError(f"not a skill: {name!r}")
    return Skill(*texts, source, kind, extra=extra, stamp=int(stamp))
