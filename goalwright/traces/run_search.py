"""Parses filters for runs from the command line and the web page."""

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


def run_filter(values: Mapping[str, str | float | None]) -> RunFilter:
    """Build a filter from values by the keys of `RunFilter`; empty values are ignored."""
    result: RunFilter = {}
    for name, value in values.items():
        if value not in (None, ""):
            parse = _PARSERS.get(name)
            if parse is None:
                raise InputError(f"runs cannot be filtered by {name[:40]!r}", hint=f"use {', '.join(sorted(_PARSERS))}")
            result[name] = parse(name, str(value))  # type: ignore[literal-required]  # the parsers have the same keys
    return result


def moment(name: str, text: str) -> str:
    """Parse a date, a time (ISO 8601), or an age such as `7d` or `12h`; returns the format of the journal."""
    if ago := _AGO.fullmatch(text.strip()):
        try:
            return _iso(datetime.now(UTC) - timedelta(**{_UNITS[ago[2]]: int(ago[1])}))
        except OverflowError:
            return "0001"
    try:
        time = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise InputError(
            f"{name} {text[:40]!r} is not a time", hint="for example: 2026-11-01, 2026-11-01T12:00, 7d or 12h"
        ) from error
    try:
        return _iso(time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC))
    except OverflowError as error:
        raise InputError(f"{name} {text[:40]!r} is out of range", hint="for example: 2026-11-01") from error


def _iso(time: datetime) -> str:
    return time.isoformat(timespec="microseconds").replace("+00:00", "Z")


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


_PARSERS: Mapping[str, Callable[[str, str], object]] = {
    **dict.fromkeys(("before", "text", "batch", "skill", "model", "tag", "code"), _text),
    **dict.fromkeys(("min_cost", "max_cost", "min_seconds", "max_seconds"), _number),
    **dict.fromkeys(("since", "until"), moment),
    "status": _statuses,
    "in_batch": _choice,
}
