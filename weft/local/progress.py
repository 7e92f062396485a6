"""How far a pull has come, for whoever draws the bar."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Stage = Literal["waiting", "source", "download", "check", "failed", "done"]


@dataclass(frozen=True, slots=True)
class Progress:
    """One step of a pull: `note` is a sentence for `waiting`, `source` and `failed`, else empty."""

    stage: Stage
    done: int
    total: int
    note: str = ""


Report = Callable[[Progress], None]


def quiet(progress: Progress) -> None:
    """Report nothing."""


def megabytes(count: int) -> str:
    """A size as people read it."""
    return f"{count / 1_000_000:,.0f} MB" if count >= 1_000_000 else f"{count:,} bytes"
