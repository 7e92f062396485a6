"""Figures of a training on the development goals, and its log."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any

from training.examples import short, whole
from training.learning.packed import Packed
from training.measure import measure, overall

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from training.learning.packed import Tokenizer


class Log:
    """Lines with the seconds since the start."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    def __call__(self, *parts: object) -> None:
        sys.stdout.write(f"[{time.monotonic() - self._began:6.1f}] {' '.join(map(str, parts))}\n")
        sys.stdout.flush()


def figures(encode: Callable[[Sequence[str]], Any], development: Mapping[str, Any]) -> str:
    """Figures on the development goals, in one line."""
    skills = development["skills"]
    texts = (
        [short(skill) for skill in skills],
        [whole(skill) for skill in skills],
        [goal[3] for goal in development["goals"]],
    )
    found = measure(development, *(encode(one).float().cpu().numpy() for one in texts))
    return json.dumps({"overall": round(overall(found), 4), **found})


def encoder(table: Any, tokenizer: Tokenizer) -> Callable[[Sequence[str]], Any]:
    """A function from texts to a table's vectors."""

    def encode(texts: Sequence[str]) -> Any:
        import torch

        packed = Packed(tokenizer.of(texts, 256), table.device)
        return torch.nn.functional.normalize(packed.sums(table, torch.arange(len(texts), device=table.device)), dim=1)

    return encode
