"""Token sequences of many texts on an accelerator, and the sums of their rows."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, Any

from goalwright_skills.selection.encoder.tokens import Tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

_tokens: Tokens | None = None


def _start(words: Sequence[str]) -> None:
    global _tokens
    _tokens = Tokens({word: place for place, word in enumerate(words)}.get)


def _of(job: tuple[str, int]) -> list[int]:
    assert _tokens is not None
    return _tokens.of(*job)


class Tokenizer:
    """Token sequences by a vocabulary, in several processes."""

    def __init__(self, words: Sequence[str], processes: int) -> None:
        self._pool = ProcessPoolExecutor(processes, initializer=_start, initargs=(list(words),))

    def of(self, texts: Sequence[str], limit: int) -> list[list[int]]:
        """The tokens of each text."""
        return list(self._pool.map(_of, ((text, limit) for text in texts), chunksize=2000))


class Packed:
    """Sequences as one flat tensor with the start and length of each."""

    def __init__(self, sequences: Sequence[Sequence[int]], device: str) -> None:
        import torch

        lengths = torch.tensor([len(one) for one in sequences])
        self.flat = torch.tensor([token for one in sequences for token in one] or [0]).to(device)
        self.lengths = lengths.to(device)
        self.starts = (lengths.cumsum(0) - lengths).to(device)

    def __len__(self) -> int:
        return len(self.lengths)

    def sums(self, table: Any, places: Any, drop: float = 0.0) -> Any:
        """The sum of the rows of each of some sequences; of their tokens, the share `drop` is left out at random."""
        import torch

        lengths = self.lengths[places]
        ends = lengths.cumsum(0)
        total = int(ends[-1])
        owner = torch.repeat_interleave(torch.arange(len(places), device=lengths.device), lengths, output_size=total)
        within = torch.arange(total, device=lengths.device) - (ends - lengths)[owner]
        tokens = self.flat[self.starts[places][owner] + within]
        if drop:
            keep = torch.rand(total, device=lengths.device) >= drop
            tokens = tokens[keep]
            lengths = torch.bincount(owner[keep], minlength=len(places))
            ends = lengths.cumsum(0)
        return torch.nn.functional.embedding_bag(tokens, table, ends - lengths, mode="sum")
