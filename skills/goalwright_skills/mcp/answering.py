"""What a server answers, or why it does not, as an envelope."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from goalwright_skills.errors import InputError, SetupError
from goalwright_skills.mcp.connections.faults import NoAnswer
from goalwright_skills.tools.envelope import Envelope, failure, time_since

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from goalwright_skills.mcp.connections.answers import CallAnswer
    from goalwright_skills.mcp.result import ResultReader
    from goalwright_skills.tools.envelope import Code


async def envelope_of(answer: Awaitable[CallAnswer], reader: ResultReader, is_known: Callable[[], bool]) -> Envelope:
    """The answer; every failure is an envelope, NOT_FOUND if what was asked for is not known any more."""
    start = time.monotonic()
    try:
        return reader.envelope(await answer, time_since(start))
    except (InputError, SetupError) as error:  # no others: that the run waits is not the tool's failure
        message = f"{error.message} — {error.hint}" if error.hint else error.message
        code: Code = "EXECUTION_ERROR" if is_known() else "NOT_FOUND"
        code = "TIMEOUT" if isinstance(error, NoAnswer) else code
        return failure(code, message, reader.context, time_ms=time_since(start))
    except OSError as error:  # the artifacts cannot be written
        what = f"what {reader.tool} answered cannot be kept: {error.strerror} — ask for less, or go on without it"
        return failure("EXECUTION_ERROR", what, reader.context, time_ms=time_since(start))
