"""Negatives that look right: skills that BM25 ranks high for a phrase of another skill."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

K1, B = 1.5, 0.5
MINED = 32
# Skills more alike than this, by the teacher and without what all have in common, are one skill twice.
SAME = 0.84


def lexical(phrases: Sequence[Sequence[int]], skills: Sequence[Sequence[int]], entries: int, device: str) -> Any:
    """The first skills by BM25 for each phrase, both as tokens."""
    import torch

    # Half floats are slow where there is no accelerator.
    kind = torch.float16 if device == "cuda" else torch.float32
    weights = torch.zeros(len(skills), entries, device=device)
    for place, tokens in enumerate(skills):
        weights[place] = torch.bincount(
            torch.tensor(tokens, device=device, dtype=torch.long), minlength=entries
        ).float()
    length = weights.sum(1, keepdim=True)
    idf = torch.log((len(skills) + 1) / ((weights > 0).sum(0) + 0.5))
    weights = (idf * weights * (K1 + 1) / (weights + K1 * (1 - B + B * length / length.mean()))).to(kind).T.contiguous()
    found = []
    for start in range(0, len(phrases), 4096):
        batch = phrases[start : start + 4096]
        asked = torch.zeros(len(batch), entries, device=device, dtype=kind)
        for row, tokens in enumerate(batch):
            asked[row, torch.tensor(tokens, device=device, dtype=torch.long)] = 1
        found.append((asked @ weights).topk(min(MINED, len(skills)), 1).indices)
    return torch.cat(found)
