"""Decodes many prompts greedily; their common prefix is read and cached once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import torch
from transformers import DynamicCache

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# Attention values computed at a time while prompts are read.
_SCORES = 1_500_000_000
# Steps between drops of finished sequences, if these are half of all.
_DROP_AFTER = 16


class Choice(Protocol):
    """A constraint on the next token, such as a grammar."""

    def restrict(self, scores: Any, rows: Sequence[int]) -> None:
        """Change the scores of the next tokens."""

    def take(self, row: int, token: int) -> None:
        """Record a chosen token."""


@dataclass(slots=True)
class _Kept:
    """The keys and values of each layer: the shared prefix, and each sequence's own tokens, left-padded."""

    shared: list[tuple[Any, Any]]
    own: list[tuple[Any, Any]]
    padding: Any


@dataclass(slots=True)
class BatchDecoder:
    """Runs the layers of a Llama-like transformers model with its own cache."""

    model: Any
    ends: Sequence[int]
    most_tokens: int
    _groups: tuple[int, int, int] = field(init=False)

    def __post_init__(self) -> None:
        config = self.model.config
        heads, kept = config.num_attention_heads, config.num_key_value_heads
        self._groups = (kept, heads // kept, getattr(config, "head_dim", None) or config.hidden_size // heads)

    def decode(self, prompts: Sequence[Sequence[int]], shared: int, choice: Choice) -> list[list[int]]:
        """Return the tokens of each answer, up to the limit and without the end token."""
        with torch.inference_mode():
            return self._decode(prompts, shared, choice)

    def _decode(self, prompts: Sequence[Sequence[int]], shared: int, choice: Choice) -> list[list[int]]:
        device = self.model.device
        longest = max(map(len, prompts)) - shared
        padding = torch.tensor([longest - len(prompt) + shared for prompt in prompts], device=device)
        rows = [[0] * (longest - len(prompt) + shared) + list(prompt[shared:]) for prompt in prompts]
        kept = _Kept(self._beginning(prompts[0][:shared]), self._room(len(prompts), longest), padding)
        scores = self._read(torch.tensor(rows, device=device), kept, shared)
        step = self._step(kept, shared, longest)
        answers: list[list[int]] = [[] for _ in prompts]
        active, ended = list(range(len(prompts))), set[int]()
        for number in range(self.most_tokens):
            choice.restrict(scores, active)
            tokens = scores.argmax(-1)
            for row, token in zip(active, tokens.tolist(), strict=True):
                if row in ended:
                    continue
                if token in self.ends:
                    ended.add(row)
                else:
                    answers[row].append(token)
                    choice.take(row, token)
            if len(ended) == len(prompts):
                break
            if number % _DROP_AFTER == 0 and sum(row not in ended for row in active) <= len(active) // 2:
                places = [place for place, row in enumerate(active) if row not in ended]
                active, tokens = [active[place] for place in places], tokens[places]
                kept.own = [(keys[places], values[places]) for keys, values in kept.own]
                kept.padding = kept.padding[places]
                step = self._step(kept, shared, longest + number)
            scores = step(tokens)
        return answers

    def _step(self, kept: _Kept, shared: int, at: int) -> Callable[[Any], Any]:
        """Return a function that reads one more token per sequence; with CUDA it is recorded once as a graph.

        A graph works on the whole buffer, so unwritten positions must hold finite numbers.
        """
        place = torch.tensor([at], device=self.model.device)
        if self.model.device.type != "cuda":

            def eager(tokens: Any) -> Any:
                scores = self._forward(tokens[:, None], kept, shared, place)
                place.add_(1)
                return scores

            return eager
        for keys, values in kept.own:
            keys[:, :, at:] = 0
            values[:, :, at:] = 0
        given = torch.zeros((len(kept.padding), 1), dtype=torch.long, device=self.model.device)
        graph = torch.cuda.CUDAGraph()
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):  # allocations of the first call are not part of the graph
            for _ in range(2):
                self._forward(given, kept, shared, place)
        torch.cuda.current_stream().wait_stream(aside)
        with torch.cuda.graph(graph):
            scores = self._forward(given, kept, shared, place)

        def replayed(tokens: Any) -> Any:
            given.copy_(tokens[:, None])
            graph.replay()
            place.add_(1)
            return scores

        return replayed

    def _beginning(self, tokens: Sequence[int]) -> list[tuple[Any, Any]]:
        cache = DynamicCache()
        if not tokens:
            return []
        self.model.model(torch.tensor([list(tokens)], device=self.model.device), past_key_values=cache, use_cache=True)
        return [(layer.keys[0], layer.values[0]) for layer in cache.layers]

    def _room(self, rows: int, read: int) -> list[tuple[Any, Any]]:
        heads, _, size = self._groups
        shape = (rows, heads, read + self.most_tokens, size)
        options = {"device": self.model.device, "dtype": self.model.dtype}
        # Unwritten positions are masked, but must hold finite numbers.
        return [(torch.zeros(shape, **options), torch.zeros(shape, **options)) for _ in self.model.model.layers]

    def _read(self, rows: Any, kept: _Kept, shared: int) -> Any:
        """Read the prompts in chunks and return the scores of the next tokens."""
        count, length = rows.shape
        at_once = max(1, _SCORES // (length * (shared + length) * self._groups[0] * self._groups[1]))
        places = torch.arange(length, device=rows.device)
        found = []
        for first in range(0, count, at_once):
            part = slice(first, first + at_once)
            own = [(keys[part, :, :length], values[part, :, :length]) for keys, values in kept.own]
            found.append(self._forward(rows[part], _Kept(kept.shared, own, kept.padding[part]), shared, places))
        return torch.cat(found)

    def _forward(self, tokens: Any, kept: _Kept, shared: int, places: Any) -> Any:
        """Return the scores after the last token of each row; `places` are positions in the buffer."""
        model = self.model.model
        columns = torch.arange(kept.own[0][0].shape[2], device=tokens.device)
        seen = (columns[None, None, :] >= kept.padding[:, None, None]) & (columns[None, :] <= places[:, None])[None]
        hidden = model.embed_tokens(tokens)
        turns = model.rotary_emb(hidden, (places[None, :] - kept.padding[:, None]).clamp(min=0) + shared)
        for number, layer in enumerate(model.layers):
            mixed = self._attend(layer, layer.input_layernorm(hidden), turns, kept, number, seen, places)
            hidden = hidden + mixed
            hidden = hidden + layer.mlp(layer.post_attention_layernorm(hidden))
        return self.model.lm_head(model.norm(hidden[:, -1])).float()

    def _attend(self, layer: Any, hidden: Any, turns: Any, kept: _Kept, number: int, seen: Any, places: Any) -> Any:
        rows, count, _ = hidden.shape
        heads, group, size = self._groups
        attention = layer.self_attn
        queries = _turned(attention.q_proj(hidden).view(rows, count, heads * group, size).transpose(1, 2), turns)
        new = _turned(attention.k_proj(hidden).view(rows, count, heads, size).transpose(1, 2), turns)
        keys, values = kept.own[number]
        keys.index_copy_(2, places, new)
        values.index_copy_(2, places, attention.v_proj(hidden).view(rows, count, heads, size).transpose(1, 2))
        queries = queries.reshape(rows, heads, group * count, size) * size**-0.5
        own = (queries @ keys.transpose(2, 3)).view(rows, heads, group, count, -1)
        own = own.masked_fill(~seen[:, None, None], -torch.inf)
        if not kept.shared:
            weights = own.softmax(-1, dtype=torch.float32).nan_to_num().to(values.dtype)
            found = weights.view(rows, heads, group * count, -1) @ values
        else:
            first_keys, first_values = kept.shared[number]
            together = queries.transpose(0, 1).reshape(heads, rows * group * count, size)
            first = (together @ first_keys.transpose(1, 2)).view(heads, rows, group, count, -1).transpose(0, 1)
            weights = torch.cat([first, own], dim=-1).softmax(-1, dtype=torch.float32).to(values.dtype)
            length = first_keys.shape[1]
            begun = weights[..., :length].transpose(0, 1).reshape(heads, rows * group * count, length) @ first_values
            begun = begun.view(heads, rows, group * count, size).transpose(0, 1)
            found = weights[..., length:].reshape(rows, heads, group * count, -1) @ values + begun
        found = found.view(rows, heads * group, count, size).transpose(1, 2)
        return attention.o_proj(found.reshape(rows, count, heads * group * size))


def _turned(vectors: Any, turns: Any) -> Any:
    """Apply rotary embeddings."""
    cos, sin = (turn[:, None] for turn in turns)
    half = vectors.shape[-1] // 2
    swapped = torch.cat([-vectors[..., half:], vectors[..., :half]], dim=-1)
    return vectors * cos + swapped * sin
