"""The tool with which a worker says that the plan it is part of cannot work: `PlanIsWrong(reason)`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from goalwright_skills.tools.effects import READ_ONLY, Effects
from goalwright_skills.tools.envelope import Context, Envelope, failure
from goalwright_skills.tools.parameter import string_parameter, tool_parameters

NAME = "PlanIsWrong"
_NOTED = "Noted. What waits for your task is held until the plan has been looked at. Now give the best result you can."


@dataclass(frozen=True, slots=True)
class PlanIsWrong:
    """Takes a worker's reason: its answer, which is on record, holds what waits for the task; the task goes on."""

    cwd: str = ""

    name: ClassVar[str] = NAME
    description: ClassVar[str] = (
        "Say that the plan itself is wrong: what you found shows that the tasks after yours cannot reach the goal, or"
        " that your task rests on something that is not so. The plan can then be changed before they start. Do not use"
        " it for difficulties of your own task."
    )
    parameters: ClassVar[Mapping[str, Any]] = tool_parameters(
        "reason", reason=string_parameter("What is wrong with the plan, and what you found, in full.")
    )

    def effects(self, _arguments: Mapping[str, Any]) -> Effects:
        """It changes nothing by itself."""
        return READ_ONLY

    async def call(self, arguments: Mapping[str, Any]) -> Envelope:
        """Take the reason."""
        reason, context = arguments.get("reason"), Context(self.cwd, dict(arguments))
        if not isinstance(reason, str) or not reason.strip():
            return failure("INVALID_PARAM", f"reason must be a text, not {reason!r} — say what is wrong", context)
        return Envelope("success", _NOTED, context, {"reason": reason.strip()})


def reason_in(envelope: Mapping[str, Any]) -> str | None:
    """The reason in the recorded answer to a call; None if the call was refused."""
    data = envelope.get("data")
    reason = data.get("reason") if isinstance(data, Mapping) and envelope.get("status") == "success" else None
    return reason if isinstance(reason, str) else None
