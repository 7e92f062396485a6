"""How long and how hard to train."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """How long and how hard to train; smaller values for a try without an accelerator."""

    device: str = "cuda"
    processes: int = 14
    batch: int = 2048
    teacher_rounds: int = 40
    teacher_rate: float = 2e-4
    rank: int = 150
    sentence_epochs: int = 14
    rounds: int = 40
    rate: float = 4e-3
    drop: float = 0.1
    taught: float = 10.0
    anchored: float = 1.0
    everyday: float = 60.0
    contrasted: float = 1.0
    seeds: int = 3
    dimensions: int = 128
    # How much of the tuned teacher is mixed with the published one, and of the ranked tables with the regressed one.
    tuned_share: float = 0.55
    ranked_share: float = 0.5
