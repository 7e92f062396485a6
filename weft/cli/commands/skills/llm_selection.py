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
    from weft.cli.view.output_mode import OutputMode
    from weft.settings.settings import Settings


def asked(workspace: Path, settings: Settings, mode: OutputMode, work: Callable[[SkillDetector], int]) -> int:
    """Do the work, in a thread, with a detector that asks the settings' model; gives the work's exit status."""

    def hear(event: Event) -> None:
        if isinstance(event, Warned) and not mode.quiet:
            output.say_warning(event.message)

    async def ask() -> int:
        async with Weft(workspace, settings) as weft, weft.llm_detector(hear) as llm_detector:
            status = await asyncio.to_thread(work, llm_detector)
            for warning in dict.fromkeys(llm_detector.warnings):
                hear(Warned(warning))
            return status

    return asyncio.run(ask())
