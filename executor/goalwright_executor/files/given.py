"""Decides what each task gets of the files that the user attached, and reports what no task read.

A recorded read is used again unchanged: a resumed task asks what it asked before, and a replay needs no file.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright_executor.files import text
from goalwright_executor.files.parts import Limits, choose
from goalwright_planner.events import FileRead, Warned
from goalwright_planner.plan.references import strings

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence

    from goalwright_executor.files.images import RunImages
    from goalwright_planner.events import ImagesGiven, Record
    from goalwright_planner.plan.plan import Plan
    from goalwright_planner.plan.task import Task
    from goalwright_planner.prompting.profile import Profile
    from goalwright_skills.image_file import Image
    from goalwright_skills.tools.envelope import Context

# An instruction that mentions "the file" needs it, even if the task builds on others.
_FILE = re.compile(
    r"(?<!\w)(?:files?|documents?|attach\w*|dateie?n?|dokumente?|anhang|fichiers?|archivos?|documentos?)(?!\w)|文件|附件",
    re.IGNORECASE,
)
_IMAGE = re.compile(
    rf"{_FILE.pattern}|(?<!\w)(?:images?|pictures?|photos?|screenshots?|bild(?:er)?|fotos?|imagen(?:es)?)(?!\w)|图片|照片",
    re.IGNORECASE,
)
_LEAST_PARTS = 2


def _ignore(read: FileRead, what: str) -> None:
    """For runs without recorded reads."""


@dataclass(slots=True)
class GivenFiles:
    """The files of one run. `recorded` has the recorded reads; `changed` receives files that differ from them.

    `earlier` are files of earlier turns of a conversation, which need not be read again.
    """

    paths: tuple[str, ...]
    workspace: Path
    record: Record
    redact: Callable[[str], str]
    recorded: Mapping[tuple[str, str], FileRead] = field(default_factory=dict)
    changed: Callable[[FileRead, str], None] = _ignore
    earlier: frozenset[str] = frozenset()
    reads: dict[tuple[str, str], FileRead] = field(init=False)

    def __post_init__(self) -> None:
        self.reads = dict(self.recorded)

    def name(self, path: str) -> str:
        """Return a file's name for people and models: relative to the workspace, or its last part."""
        file = Path(path)
        inside = file.is_relative_to(self.workspace)
        return str(file.relative_to(self.workspace)) if inside else file.name

    def wanted_by(self, task: Task, speaks_of: re.Pattern[str] = _FILE) -> tuple[str, ...]:
        """Return the files that a task needs: those that it names, or all if it starts from nothing else."""
        named = tuple(path for path in self.paths if self._is_named(path, task.instruction))
        if named:
            return named
        return self.paths if not task.depends_on or speaks_of.search(task.instruction) else ()

    def images_for(self, task: Task, given: ImagesGiven) -> tuple[list[Image], dict[str, str]]:
        """Return the images that a task needs, and by name why others are not shown."""
        wanted = self.wanted_by(task, speaks_of=_IMAGE)
        refused = {self.name(path): given.refused[path] for path in wanted if path in given.refused}
        return [image for image in given.images if image.path in wanted], refused

    def _is_named(self, path: str, instruction: str) -> bool:
        return any(name in instruction for name in (path, self.name(path), Path(path).name))

    async def take(
        self, task: Task, plan: Plan, goal: str, profile: Profile, looked_at: Container[str] = ()
    ) -> list[FileRead]:
        """Read the files that a task needs, except `looked_at` ones, which are images."""
        wanted = tuple(path for path in self.wanted_by(task) if path not in looked_at)
        recorded = [self.recorded[task.id, path] for path in wanted if (task.id, path) in self.recorded]
        if recorded:
            await asyncio.to_thread(self._compare, recorded)
            return recorded
        readers = sum(bool(self.wanted_by(other)) for other in plan.tasks if other.action_type != "tool")
        limits = Limits(profile.file_tokens, max(_LEAST_PARTS, profile.file_parts // max(readers, 1)))
        reads = await asyncio.to_thread(self._read, task, wanted, goal, limits)
        for read in reads:
            self.reads[task.id, read.path] = read
            self.record(read)
            if left := _left_out([read]):
                self.record(Warned(f"task {task.id}: {self.name(read.path)}: {left}"))
        return reads

    def _read(self, task: Task, paths: Sequence[str], goal: str, limits: Limits) -> list[FileRead]:
        reads, texts = [], []
        for path in paths:
            try:
                content = text.read(Path(path))
            except text.FileRefused as error:
                reads.append(FileRead(task.id, path, error=str(error)))
                continue
            whole = self.redact(content.text)
            reads.append(FileRead(task.id, path, content.sha256, len(whole)))
            texts.append(whole)
        readable = [read for read in reads if not read.error]
        filled = choose(readable, texts, task.instruction or goal, goal, limits)
        by_path = {read.path: read for read in filled}
        return [by_path.get(read.path, read) for read in reads]

    def _compare(self, reads: Iterable[FileRead]) -> None:
        """Report files that changed since they were read; one outside the workspace may be missing elsewhere."""
        for read in reads:
            if read.error:
                continue
            now = text.digest(Path(read.path))
            subject = f"the file {self.name(read.path)!r} of task {read.task!r}"
            if now is None and Path(read.path).is_relative_to(self.workspace):
                self.changed(read, f"{subject} can no longer be read")
            elif now is not None and now != read.sha256:
                self.changed(read, f"{subject} has changed since it was read")

    def compare_images(self, given: ImagesGiven, changed: Callable[[str], None]) -> None:
        """Report images that changed since they were attached; one outside the workspace may be missing."""
        for image in given.images:
            now, subject = text.digest(Path(image.path)), f"the image {image.name!r}"
            if now is None and Path(image.path).is_relative_to(self.workspace):
                changed(f"{subject} can no longer be read")
            elif now is not None and now != image.sha256:
                changed(f"{subject} has changed since it was given")

    def not_read(self, calls: Iterable[Context], images: RunImages | None = None) -> list[str]:
        """Return a line for each file that was not read in full, and why; `calls` are successful tool calls."""
        successful = list(calls)
        lines = []
        shown = {image.path: image.sha256 for image in images.given.images} if images is not None else {}
        for path in self.paths:
            if images is not None and (path in shown or path in images.given.refused):
                why = _not_seen(shown.get(path), images) or images.given.refused.get(path)
                lines += [f"{self.name(path)}: {why}"] if why else []
                continue
            reads = [read for (_, read_path), read in self.reads.items() if read_path == path]
            if any(_mentions(call, path) for call in successful):
                continue
            unread = "" if path in self.earlier else "no task read it"
            why = _left_out(reads) if reads else unread
            lines += [f"{self.name(path)}: {why}"] if why else []
        return lines


def _not_seen(sha256: str | None, images: RunImages) -> str:
    """Return why no model has seen an image; empty if one has, or if it was not to be shown."""
    if sha256 is None or sha256 in images.seen:
        return ""
    return "no model that can see was shown it" if sha256 in images.unseen else "no task looked at it"


def _left_out(reads: Sequence[FileRead]) -> str:
    """Return what the reads of one file left out; empty if nothing."""
    errors = [read.error for read in reads if read.error]
    if errors:
        return errors[0]
    numbers = {of: {part.number for read in reads if read.of == of for part in read.parts} for of in _divisions(reads)}
    of = max(numbers, key=lambda of: len(numbers[of]) / of)
    if len(numbers[of]) >= of:
        return ""
    return f"{len(numbers[of])} of {of} parts were read, of {reads[0].characters:,} characters in all"


def _divisions(reads: Sequence[FileRead]) -> list[int]:
    """Return the numbers of parts that a file was divided into: tasks that ask about passages have smaller parts."""
    return list(dict.fromkeys(read.of for read in reads))


def _mentions(call: Context, path: str) -> bool:
    """Whether a tool was called with this file."""
    if call.path_resolved in (path, str(Path(path).resolve())):
        return True
    name = re.compile(rf"(?<![\w.-]){re.escape(Path(path).name)}(?![\w-])")
    return any(name.search(text) for text in strings(call.params_input))
