"""The progress of a pull, for a progress bar or log lines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Stage = Literal["waiting", "source", "download", "check", "failed", "done"]


@dataclass(frozen=True, slots=True)
class Progress:
    """A step of a pull; `note` is a sentence for `waiting`, `source` and `failed`, otherwise empty."""

    stage: Stage
    done: int
    total: int
    note: str = ""


Report = Callable[[Progress], None]


def quiet(progress: Progress) -> None:
    """Report nothing."""


def megabytes(count: int) -> str:
    """A size in readable form."""
    return f"{count / 1_000_000:,.0f} MB" if count >= 1_000_000 else f"{count:,} bytes"
