"""Tags and notes of recorded runs, which are appended to their records."""

from __future__ import annotations

import asyncio
import unicodedata
from typing import TYPE_CHECKING

from goalwright.runs.stored import records
from goalwright.runs.stored.claim import claim, release
from goalwright_planner.events import RunNoted, RunTagged
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from goalwright.settings.paths import Paths
    from goalwright_executor.journal.journal import Journal
    from goalwright_executor.stores.row import RunSummary
    from goalwright_planner.events import Event

LONGEST_TAG = 60
MOST_TAGS = 30
LONGEST_NOTE = 10_000


async def retag(
    journal: Journal, paths: Paths, run_id: str, change: Callable[[tuple[str, ...]], Iterable[str]]
) -> RunSummary:
    """Change the tags of a run; raises `RunHeld` while a process is running it."""

    def event(run: RunSummary) -> RunTagged | None:
        tags = checked_tags(change(run.tags))
        return RunTagged(tags) if tags != run.tags else None

    return await _add(journal, paths, run_id, event)


async def write_note(journal: Journal, paths: Paths, run_id: str, note: str) -> RunSummary:
    """Set the note of a run; an empty text removes it."""
    text = note.strip()
    if len(text) > LONGEST_NOTE:
        message = f"the note has {len(text):,} characters; the limit is {LONGEST_NOTE:,}"
        raise InputError(message, hint="put long texts into a file")
    return await _add(journal, paths, run_id, lambda run: RunNoted(text) if text != run.note else None)


def checked_tags(values: Iterable[str]) -> tuple[str, ...]:
    """Normalize, deduplicate and sort tags; raises if one is empty, too long or not a single line."""
    tags: dict[str, None] = {}
    for tag in values:
        text = " ".join(tag.split(" ")).strip()
        if not text or len(text) > LONGEST_TAG or any(unicodedata.category(char) in ("Cc", "Cs") for char in text):
            raise InputError(
                f"{tag[:80]!r} is not a valid tag", hint=f"a tag is one line of 1 to {LONGEST_TAG} characters"
            )
        tags[text] = None
    if len(tags) > MOST_TAGS:
        raise InputError(f"a run can have {MOST_TAGS} tags, not {len(tags)}", hint="remove some tags first")
    return tuple(sorted(tags, key=str.casefold))


async def _add(
    journal: Journal, paths: Paths, run_id: str, event_of: Callable[[RunSummary], Event | None]
) -> RunSummary:
    """Append an event to the record of a run, unless there is no change; returns the updated run."""
    await claim(journal, run_id)
    try:
        run = await asyncio.to_thread(journal.store.find, run_id)
        event = event_of(run)
        if event is not None:
            last = await asyncio.to_thread(journal.store.last_event, run_id)
            log = journal.add_to(run, records.capture(paths, run_id), last)
            log.record(event)
            await log.settle()
    finally:
        await release(journal, run_id)
    return await asyncio.to_thread(journal.store.find, run_id)
