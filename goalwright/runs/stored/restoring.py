"""Brings back the files of a run that another machine has, that were deleted, or that a rerun takes from its parent."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from goalwright_executor.results.kept_files import KeptFiles
from goalwright_planner.events import FileKept, Warned, decode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from goalwright_executor.capture.capture import Capture
    from goalwright_executor.results.file_contents import FileContents
    from goalwright_executor.stores.store import Store
    from goalwright_planner.events import Event, Record, TaskReused


def kept_contents(store: Store, run_id: str, capture: Capture) -> Iterator[FileKept]:
    """What the journal has of a run's files, in the order in which it was written, with the paths of this machine."""
    for row in store.rows(run_id, types=("file_kept",)):
        event = decode(row.type, capture.local(row.body))
        if isinstance(event, FileKept):
            yield event


def reused_files(reused: Iterable[TaskReused]) -> KeptFiles:
    """The files of tasks whose results are taken from another run."""
    files = KeptFiles()
    for one in reused:
        files.add(one.task, one.artifacts, one.images)
    return files


def is_shown(event: Event) -> bool:
    """Whether observers hear of an event: the content of a file is for the journal alone."""
    return not isinstance(event, FileKept)


async def restore_files(
    files: KeptFiles, contents: FileContents, kept: Callable[[], Iterable[FileKept]], record: Record
) -> None:
    """Write what is missing of a run's files, and warn of those that are nowhere."""
    if not files.files:
        return
    for path in await asyncio.to_thread(contents.restore, files.listed(), kept):
        record(Warned(f"{path}, which a task wrote, is not on this machine, nor in the journal"))
