"""`Grep`: searches files for a regular expression."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from typing import TYPE_CHECKING, Any, ClassVar

from goalwright_skills.builtin.reading_tool import ReadingTool, fitting, in_thread, number
from goalwright_skills.builtin.search import worker
from goalwright_skills.builtin.search.walk import GLOB, Walk, glob_of
from goalwright_skills.confinement.system_paths import ISOLATED
from goalwright_skills.tools.parameter import integer_parameter, string_parameter, tool_parameters
from goalwright_skills.tools.tool import ToolFault

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from goalwright_skills.builtin.readable_roots import ReadableRoots
    from goalwright_skills.builtin.search.glob import Glob
    from goalwright_skills.tools.envelope import Envelope

SECONDS = 2.0  # of CPU time for the pattern
TIMEOUT = 60.0  # seconds for the whole search
FILE_LIMIT = 5 * 1024**2
ALL_LIMIT = 200 * 1024**2
HITS, MOST_HITS = 100, 1000
LONGEST_PATTERN = 1000


class Grep(ReadingTool):
    """Searches files for a regular expression."""

    name = "Grep"
    description = (
        "Search the text files of the workspace or of a skill's folder line by line for a regular expression (Python's "
        "`re`). The result has a line `path:number: text` for each match."
    )
    parameters: ClassVar[Mapping[str, Any]] = tool_parameters(
        "pattern",
        pattern=string_parameter("The regular expression; `(?i)` at its start ignores case."),
        path=string_parameter(
            "The folder or file, absolute or relative to the workspace; by default the file workspace."
        ),
        glob=GLOB,
        limit=integer_parameter(f"The number of matches to list: {HITS} by default, {MOST_HITS} at most.", 1),
    )

    async def call(self, arguments: Mapping[str, Any]) -> Envelope:
        """Search; every error has a reason and a next step."""
        path = arguments.get("path")
        return await in_thread(self._roots, {**arguments, "path": "." if path is None else path}, self._search)

    def _search(self, real: Path, arguments: Mapping[str, Any]) -> tuple[str, dict[str, Any], bool]:
        pattern = _pattern(arguments)
        limit = min(number(arguments, "limit", HITS, 1), MOST_HITS)
        search = _Search(self._roots, real, glob_of(arguments))
        matches = search.run(pattern, limit)
        hits = [{"path": path, "line": line, "text": text} for path, line, text in matches["hits"]]
        text, shown = fitting((f"{hit['path']}:{hit['line']}: {hit['text']}" for hit in hits), room=300)
        notes = []
        if matches["total"] > shown:
            notes.append(f"[{matches['total'] - shown} more matches; use a narrower pattern, path or glob]")
        notes += search.notes()
        data = {"matches": hits[:shown], "total": matches["total"], "files": search.files}
        return (text + "\n".join(notes)) or "(no matches)", data, bool(notes)


class _Search:
    """One search: the files that it reads, and the number of skipped files."""

    def __init__(self, roots: ReadableRoots, real: Path, glob: Glob | None) -> None:
        self.roots, self.glob = roots, glob
        descriptor = roots.open(real)
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        os.close(descriptor)
        self.walk = Walk(roots, real if is_folder else real.parent)
        self.only = None if is_folder else real.name
        self.files = self.large = self.read = 0
        self.cut = False

    def notes(self) -> list[str]:
        """Return notes on the files that were not searched."""
        notes = [f"[files over {FILE_LIMIT // 1024**2} MB are not searched: {self.large}]"] if self.large else []
        if self.cut or self.walk.cut:
            notes.append("[not all files were searched; name a folder below this one]")
        return notes

    def run(self, pattern: str, limit: int) -> dict[str, Any]:
        """Pass the files to a worker process and return its matches."""
        command = [sys.executable, *ISOLATED, worker.__file__]
        orders = {"pattern": pattern, "limit": limit, "seconds": SECONDS}
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd="/", env={}
        ) as process:
            try:
                self._feed(process, orders)
                out, _ = process.communicate(timeout=TIMEOUT)
            except subprocess.TimeoutExpired as error:
                raise _too_slow() from error
            finally:
                process.kill()
        if process.returncode in (-signal.SIGPROF, -signal.SIGXCPU):
            raise _too_slow()
        if process.returncode != 0:
            raise ToolFault("EXECUTION_ERROR", "the search used too much memory; use a simpler pattern")
        answer: dict[str, Any] = json.loads(out)
        if "error" in answer:
            problem = f"pattern {pattern!r:.80} is not a regular expression: {answer['error']}"
            raise ToolFault("INVALID_PARAM", f"{problem}; escape special characters with a backslash")
        return answer

    def _feed(self, process: subprocess.Popen[bytes], orders: Mapping[str, Any]) -> None:
        assert process.stdin is not None  # noqa: S101 - it is a pipe
        try:
            process.stdin.write(json.dumps(orders).encode() + b"\n")
            for path in self._paths():
                data = self._text(path)
                if data is None:
                    continue
                self.files += 1
                shown = self._shown(path)
                process.stdin.write(json.dumps([shown, len(data)]).encode() + b"\n")
                process.stdin.write(data)
            process.stdin.flush()
        except BrokenPipeError:
            pass  # the worker ended early; its exit status tells why

    def _paths(self) -> Iterable[str]:
        if self.only is not None:
            return [self.only]
        return (path for path in self.walk.files() if self.glob is None or self.glob.matches(path))

    def _text(self, path: str) -> bytes | None:
        """Return the content of a text file; None if the file is not searched."""
        if self.read > ALL_LIMIT:
            self.cut = True
            return None
        try:
            descriptor = self.walk.open(path)
        except ToolFault:
            return None
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                return None
            if status.st_size > FILE_LIMIT:
                self.large += 1
                return None
            data = file.read(FILE_LIMIT)
        self.read += len(data)
        return None if b"\0" in data[:65_536] else data

    def _shown(self, path: str) -> str:
        file = self.walk.folder / path
        root = os.path.realpath(self.roots.workspace)
        return str(file.relative_to(root)) if file.is_relative_to(root) else str(file)


def _pattern(arguments: Mapping[str, Any]) -> str:
    pattern = arguments.get("pattern")
    if not isinstance(pattern, str) or not pattern or len(pattern) > LONGEST_PATTERN:
        problem = f"pattern must be a regular expression of 1 to {LONGEST_PATTERN} characters, not {pattern!r:.80}"
        raise ToolFault("INVALID_PARAM", f"{problem}; give a shorter one")
    return pattern


def _too_slow() -> ToolFault:
    problem = f"the pattern took longer than {SECONDS:g} s and was stopped; use a pattern without nested repetition"
    return ToolFault("TIMEOUT", f"{problem}, or name fewer files with path and glob")
