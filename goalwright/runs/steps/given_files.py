"""The files of a goal: images for models, and contents for models without tools."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from goalwright_executor.files.given import GivenFiles
from goalwright_planner.events import Warned

if TYPE_CHECKING:
    from collections.abc import Callable

    from goalwright.runs.run_context import RunContext
    from goalwright_planner.events import FileRead


def given_files(context: RunContext) -> GivenFiles | None:
    """Return the files of the goal, for models that cannot read them; None if there are none."""

    def warn(_: FileRead, change: str) -> None:
        context.record(Warned(f"{change}: the task uses its recorded content"))

    if not context.goal.files:
        return None
    paths, redact = tuple(str(path) for path in context.goal.files), context.memo.capture.secrets.redact
    recorded, workspace = context.recorded, context.artifacts.workspace
    seen = context.goal.conversation
    earlier = paths[len(paths) - seen.earlier_files :] if seen is not None else ()
    changed = recorded.file_changed or warn
    return GivenFiles(paths, workspace, context.record, redact, recorded.files, changed, frozenset(earlier))


async def give_images(context: RunContext) -> None:
    """Read the images among the files; a recorded run uses its recorded images."""
    files, recorded = given_files(context), context.recorded
    if files is None:
        return
    if recorded.images is not None:
        context.memo.images.given = recorded.images
        await asyncio.to_thread(files.compare_images, recorded.images, recorded.image_changed or _warner(context))
    elif not recorded.is_begun:
        await context.memo.images.give(files.paths, files.name)


def _warner(context: RunContext) -> Callable[[str], None]:
    def warn(change: str) -> None:
        context.record(Warned(f"{change}: models get the recorded image"))

    return warn
