"""A language model that answers many prompts at once, on an accelerator."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from training import bundle, everyday_requests, requests

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from training.requests import Prompt

BATCH = 2048
TEMPERATURE = 0.9
# Tokens that are less likely than the likeliest by more than this, in log odds, are never drawn.
LEAST = 3.5


def load(gguf: Path) -> tuple[Any, Any]:
    """A model and its tokenizer from a GGUF file."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model: Any = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.bfloat16)
    return model.to("cuda").eval(), AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)


def write(data: Path, model: Any, tokenizer: Any, out: Path, log: Callable[..., None] = print) -> None:
    """Write requests for the skills of a bundle, everyday messages, and translations of some of both, to a file."""
    import torch

    torch.manual_seed(0)
    writer = Writer(model, tokenizer)
    everyday = everyday_requests.written(writer.answers(everyday_requests.to_write(), sampled=True))
    log(f"{sum(map(len, everyday.values()))} everyday messages")
    asked = requests.written(writer.answers(requests.to_write(bundle.read(data)["skills"]), sampled=True))
    log(f"{sum(map(len, asked.values()))} requests")
    prompts = everyday_requests.to_translate(everyday)
    messages = everyday_requests.joined(everyday, requests.translated(writer.answers(prompts)))
    _write(out, {"requests": requests.joined(asked, {}), "everyday": messages})
    translated = requests.translated(writer.answers(requests.to_translate(asked)))
    log(f"{len(translated)} translated requests; everyday: {everyday_requests.counted(messages)}")
    _write(out, {"requests": requests.joined(asked, translated), "everyday": messages})


def _write(out: Path, document: dict[str, Any]) -> None:
    """Write all that there is so far, so that a training that ends early leaves something."""
    part = out.with_suffix(".part")
    part.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    part.replace(out)


@dataclass(frozen=True, slots=True)
class Writer:
    """Answers prompts with a model, those of like length together."""

    model: Any
    tokenizer: Any

    def answers(self, prompts: Iterable[Prompt], *, sampled: bool = False) -> Iterator[tuple[Prompt, str]]:
        """The answer to each prompt, in another order."""
        from plan_quality.decoding import BatchDecoder

        ends = sorted({self.model.config.eos_token_id, self.tokenizer.eos_token_id})
        choice = Sampled() if sampled else Greedy()
        known = [(prompt, self._tokens(prompt)) for prompt in prompts]
        known.sort(key=lambda one: (one[0].most_tokens, len(one[0].turns), len(one[1])))
        for (most, _), group in groupby(known, lambda one: (one[0].most_tokens, len(one[0].turns))):
            decoder, rows = BatchDecoder(self.model, ends, most), list(group)
            for start in range(0, len(rows), BATCH):
                batch = rows[start : start + BATCH]
                tokens = [one for _, one in batch]
                made = decoder.decode(tokens, _shared(tokens), choice)
                texts = self.tokenizer.batch_decode(made, skip_special_tokens=True)
                yield from zip((prompt for prompt, _ in batch), texts, strict=True)

    def _tokens(self, prompt: Prompt) -> Sequence[int]:
        text = self.tokenizer.apply_chat_template(prompt.turns, tokenize=False, add_generation_prompt=True)
        found: Sequence[int] = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return found


def _shared(rows: Sequence[Sequence[int]]) -> int:
    """How many tokens all rows begin with, at least one of each aside."""
    most = min(map(len, rows)) - 1
    differ = (at for at, column in enumerate(zip(*rows, strict=False)) if len(set(column)) > 1)
    return min(next(differ, most), most)


class Greedy:
    """Leaves the scores of tokens as they are, so that the likeliest is taken."""

    def restrict(self, scores: Any, rows: Sequence[int]) -> None:
        """Nothing to rule out."""

    def take(self, row: int, token: int) -> None:
        """Nothing to remember."""


class Sampled(Greedy):
    """Draws among the likely tokens, by noise that makes the likeliest one a draw."""

    def restrict(self, scores: Any, rows: Sequence[int]) -> None:
        """Change the scores, one row after the other's sequence, so that their best is a draw."""
        import torch

        unlikely = scores < scores.amax(-1, keepdim=True) - LEAST
        noise = -torch.empty_like(scores).exponential_().log_()
        scores.div_(TEMPERATURE).add_(noise).masked_fill_(unlikely, -torch.inf)
