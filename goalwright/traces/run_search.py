"""Which runs are asked for, at the command line and by a page: a filter from what someone typed."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from goalwright_executor.stores.run_lists import RunFilter

STATUSES = ("running", "waiting", "done", "partial", "failed", "stopped", "interrupted")
_AGO = re.compile(r"(\d{1,5}) ?([mhdw])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_LONGEST = 1_000


def run_filter(given: Mapping[str, str | float | None]) -> RunFilter:
    """The filter that some values ask for, by the names of `RunFilter`; empty ones ask for nothing."""
    wanted: RunFilter = {}
    for name, value in given.items():
        if value not in (None, ""):
            read = _READERS.get(name)
            if read is None:
                raise InputError(f"runs cannot be filtered by {name[:40]!r}", hint=f"use {', '.join(sorted(_READERS))}")
            wanted[name] = read(name, str(value))  # type: ignore[literal-required]  # the readers have the same names
    return wanted


def moment(name: str, text: str) -> str:
    """A time as records spell it: a day, a time (ISO 8601), or how long ago, such as `7d` or `12h`."""
    if ago := _AGO.fullmatch(text.strip()):
        try:
            return _spelt(datetime.now(UTC) - timedelta(**{_UNITS[ago[2]]: int(ago[1])}))
        except OverflowError:
            return "0001"
    try:
        at = datetime.fromisoformat(text.strip())
    except ValueError as error:
        what = f"{name} {text[:40]!r} is not a time"
        raise InputError(what, hint="for example: 2026-11-01, 2026-11-01T12:00, 7d or 12h") from error
    try:
        return _spelt(at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC))
    except OverflowError as error:
        raise InputError(f"{name} {text[:40]!r} is out of range", hint="for example: 2026-11-01") from error


def _spelt(at: datetime) -> str:
    return at.isoformat(timespec="microseconds").replace("+00:00", "Z")


def _number(name: str, text: str) -> float:
    try:
        value = float(text.strip().removeprefix("$"))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{name} {text[:40]!r} is not a number", hint=f"for example: {name} 0.5")
    return value


def _statuses(_: str, text: str) -> tuple[str, ...]:
    statuses = tuple(filter(None, text.split(",")))
    for status in statuses:
        if status not in STATUSES:
            raise InputError(f"there is no status {status[:40]!r}", hint=f"use {', '.join(STATUSES)}")
    return statuses


def _choice(name: str, text: str) -> bool:
    if text not in ("0", "1"):
        raise InputError(f"{name} {text[:40]!r} is neither 0 nor 1", hint=f"for example: {name}=0")
    return text == "1"


def _text(_: str, text: str) -> str:
    return text[:_LONGEST]


_READERS: Mapping[str, Callable[[str, str], object]] = {
    **dict.fromkeys(("before", "text", "batch", "skill", "model", "tag", "code"), _text),
    **dict.fromkeys(("min_cost", "max_cost", "min_seconds", "max_seconds"), _number),
    **dict.fromkeys(("since", "until"), moment),
    "status": _statuses,
    "in_batch": _choice,
}
