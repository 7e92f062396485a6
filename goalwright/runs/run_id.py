"""Ids of runs (sortable by time) and of batches, safe in file names and URLs; and the date of a run."""

from __future__ import annotations

import re
import secrets
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def new_run_id(now: datetime | None = None) -> str:
    """Return a new id, such as 20261115T021340123-9f3a1c."""
    at = (now or datetime.now(UTC)).astimezone(UTC)
    return f"{at:%Y%m%dT%H%M%S}{at.microsecond // 1000:03d}-{secrets.token_hex(3)}"


def new_batch_id(output: Path) -> str:
    """Return a new id for a batch, such as answers-9f3a1c for the results file answers.jsonl."""
    stem = re.sub(r"[^A-Za-z0-9]+", "-", output.stem).strip("-")[:40]
    return f"{stem or 'batch'}-{secrets.token_hex(3)}"


def today() -> str:
    """Return today's date in the form of prompts."""
    return f"{datetime.now().astimezone():%A, %Y-%m-%d}"
