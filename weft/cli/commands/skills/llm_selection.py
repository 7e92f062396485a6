"""Selection by a model from the command line, without a run."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from planner.events import Event, Warned
from weft.cli.view import output
from weft.runs.runtime import Weft

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from skills.selection.detector import SkillDetector
    from weft.cli.view.voice import Voice
    from weft.settings.settings import Settings


def asked(workspace: Path, settings: Settings, voice: Voice, work: Callable[[SkillDetector], int]) -> int:
    """Do the work, in a thread, with a detector that asks the settings' model; gives the work's exit status."""

    def hear(event: Event) -> None:
        if isinstance(event, Warned) and not voice.quiet:
            output.say_warning(event.message)

    async def ask() -> int:
        async with Weft(workspace, settings) as weft, weft.picker(hear) as picker:
            status = await asyncio.to_thread(work, picker)
            for warning in dict.fromkeys(picker.warnings):
                hear(Warned(warning))
            return status

    return asyncio.run(ask())
