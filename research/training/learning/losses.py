"""What the teacher and the table are trained for."""

from __future__ import annotations

from typing import Any

# A goal's best skill is above this cosine, an everyday sentence's below.
THRESHOLD = 0.35
SHARPNESS = 30.0


def contrastive(goals: Any, skills: Any, positive: Any, masked: Any, scale: float = 20.0) -> Any:
    """Each goal's skills against all others, and each skill's goal against all others, as cross-entropies.

    `positive` says which of the skills a goal is for (several where goals are joined), `masked` which ones to ignore.
    """
    import torch

    similar = (goals @ skills.T * scale).masked_fill(masked & ~positive, -1e4)
    others = similar.masked_fill(positive, -1e4)
    forward = torch.logaddexp(similar, others.logsumexp(1, keepdim=True)) - similar
    forward = ((forward * positive).sum(1) / positive.sum(1).clamp(min=1)).mean()
    count = len(goals)
    own = torch.arange(count, device=similar.device)
    back = torch.logaddexp(similar, others.logsumexp(0, keepdim=True)) - similar
    return forward + 0.5 * back[own, own].mean()


def divergence(similar: Any, taught: Any, temperature: float = 0.05) -> Any:
    """How far the table's distribution over skills is from the teacher's."""
    from torch.nn import functional

    return functional.kl_div(
        functional.log_softmax(similar / temperature, 1),
        functional.softmax(taught / temperature, 1),
        reduction="batchmean",
    )


def abstention(everyday: Any, skills: Any, right: Any) -> Any:
    """Everyday sentences near no skill, goals near theirs; `right` has the cosine of each goal with its skill."""
    from torch.nn import functional

    nearest = (everyday @ skills.T).topk(8, 1).values
    return (
        functional.softplus(SHARPNESS * (nearest - THRESHOLD)).mean()
        + functional.softplus(SHARPNESS * (THRESHOLD - right)).mean()
    ) / SHARPNESS
