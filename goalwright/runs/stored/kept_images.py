"""The images that a run's record has, by their hashes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_executor.files.kept_content import decoded
from goalwright_planner.events import FileKept, decode
from goalwright_skills import image_file

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from goalwright_executor.stores.row import Row
    from goalwright_executor.stores.store import Store


def kept_image(store: Store, run_id: str, sha256: str) -> bytes | None:
    """The bytes of an image that the journal has."""
    return next((data for _, data in images_in(store.rows(run_id, types=("file_kept",)), (sha256,))), None)


def images_in(rows: Iterable[Row], wanted: Container[str]) -> Iterator[tuple[str, bytes]]:
    """The wanted images in a run's rows, if they are what their hashes say; a record may be a stranger's."""
    for row in rows:
        if row.type != "file_kept" or row.body.get("sha256") not in wanted or not row.body.get("data"):
            continue
        event = decode(row.type, row.body)
        data = decoded(event) if isinstance(event, FileKept) else None
        if data is not None and image_file.type_of(data) is not None:
            yield row.body["sha256"], data
