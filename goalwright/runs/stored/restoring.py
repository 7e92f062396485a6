"""Restores the files and images of a run from the journal: deleted, from another machine, or of a rerun's parent."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from goalwright_executor.files.images import decoded
from goalwright_executor.results.kept_files import KeptFiles
from goalwright_planner.events import FileKept, Warned, decode
from goalwright_skills import image_file

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator

    from goalwright_executor.capture.capture import Capture
    from goalwright_executor.results.file_contents import FileContents
    from goalwright_executor.stores.row import Row
    from goalwright_executor.stores.store import Store
    from goalwright_planner.events import Event, Record, TaskReused


def kept_contents(store: Store, run_id: str, capture: Capture) -> Iterator[FileKept]:
    """Yield the recorded files of a run in the order of the journal, with the paths of this machine."""
    for row in store.rows(run_id, types=("file_kept",)):
        event = decode(row.type, capture.local(row.body))
        if isinstance(event, FileKept):
            yield event


def reused_files(reused: Iterable[TaskReused]) -> KeptFiles:
    """Return the files of tasks whose results are reused from another run."""
    files = KeptFiles()
    for output in reused:
        files.add(output.task, output.artifacts, output.images)
    return files


def is_shown(event: Event) -> bool:
    """Return whether observers receive an event: file contents are for the journal only."""
    return not isinstance(event, FileKept)


async def restore_files(
    files: KeptFiles, contents: FileContents, kept: Callable[[], Iterable[FileKept]], record: Record
) -> None:
    """Write the missing files of a run, and warn of files that cannot be found."""
    if not files.files:
        return
    for path in await asyncio.to_thread(contents.restore, files.listed(), kept):
        record(Warned(f"{path}, which a task wrote, is neither on this machine nor in the journal"))


def kept_image(store: Store, run_id: str, sha256: str) -> bytes | None:
    """Return the bytes of a recorded image."""
    return next((data for _, data in images_in(store.rows(run_id, types=("file_kept",)), (sha256,))), None)


def images_in(rows: Iterable[Row], hashes: Container[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the images with these hashes in a run's rows; the content is verified, as a record may be untrusted."""
    for row in rows:
        if row.type != "file_kept" or row.body.get("sha256") not in hashes or not row.body.get("data"):
            continue
        event = decode(row.type, row.body)
        data = decoded(event) if isinstance(event, FileKept) else None
        if data is not None and image_file.type_of(data) is not None:
            yield row.body["sha256"], data
