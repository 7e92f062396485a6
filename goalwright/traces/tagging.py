"""Tags and notes of recorded runs: what a person says about a run is added to its record."""

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
    """Give a run other tags, made of those that it has; raises `RunHeld` while a process works on it."""

    def event(run: RunSummary) -> RunTagged | None:
        tags = checked_tags(change(run.tags))
        return RunTagged(tags) if tags != run.tags else None

    return await _add(journal, paths, run_id, event)


async def write_note(journal: Journal, paths: Paths, run_id: str, note: str) -> RunSummary:
    """Write a note about a run, in place of an earlier one; an empty text takes it away."""
    text = note.strip()
    if len(text) > LONGEST_NOTE:
        what = f"the note has {len(text):,} characters; {LONGEST_NOTE:,} is the most"
        raise InputError(what, hint="put long texts into a file")
    return await _add(journal, paths, run_id, lambda run: RunNoted(text) if text != run.note else None)


def checked_tags(given: Iterable[str]) -> tuple[str, ...]:
    """Tags as they are recorded, each once, in order; raises if one is empty, too long or not one line of text."""
    tags: dict[str, None] = {}
    for tag in given:
        text = " ".join(tag.split(" ")).strip()
        if not text or len(text) > LONGEST_TAG or any(unicodedata.category(one) in ("Cc", "Cs") for one in text):
            what = f"{tag[:80]!r} cannot be a tag"
            raise InputError(what, hint=f"a tag is one line of 1 to {LONGEST_TAG} characters")
        tags[text] = None
    if len(tags) > MOST_TAGS:
        raise InputError(f"a run has {MOST_TAGS} tags at most, not {len(tags)}", hint="take some away first")
    return tuple(sorted(tags, key=str.casefold))


async def _add(
    journal: Journal, paths: Paths, run_id: str, event_of: Callable[[RunSummary], Event | None]
) -> RunSummary:
    """Add to the record of a run what is said of it, unless it says so already; the run as it is then."""
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
