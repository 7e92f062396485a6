"""Runs the weights of a GGUF file in transformers and answers pending requests in batches, on an accelerator.

Needs torch, transformers, gguf and llguidance.
"""

from __future__ import annotations

import asyncio
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goalwright_planner.model import Reply, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from goalwright_planner.model import Message

# Requests within this many seconds of each other share a batch.
_PAUSE = 1.0
# Limits of a batch: sequences, and cached tokens beyond the shared prefix.
_MOST_AT_ONCE = 512
_MOST_KEPT = 1_200_000


@dataclass(slots=True, eq=False)
class _Waiting:
    tokens: list[int]
    schema: Mapping[str, Any] | None
    answered: asyncio.Future[Reply]


class BulkModel:
    """A model that collects requests and answers them greedily in batches."""

    def __init__(self, gguf: Path, most_tokens: int) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        from plan_quality.decoding import BatchDecoder
        from plan_quality.grammars import Grammars, grammar_tokens

        device = "cuda" if torch.cuda.is_available() else "cpu"
        self._most_tokens = most_tokens
        self._file = gguf
        self._tokenizer: Any = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
        loaded: Any = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.bfloat16)
        model = loaded.to(device).eval()
        # A chat ends with another token than a text, and grammars only know the latter.
        ends = sorted({model.config.eos_token_id, self._tokenizer.eos_token_id})
        self._decoder = BatchDecoder(model, ends, most_tokens)
        self._grammars = Grammars
        self._tokens = grammar_tokens(self._tokenizer, model.config.vocab_size)
        self._waiting: list[_Waiting] = []
        self._answering: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        """The file's name."""
        return self._file.stem

    async def answer(self, messages: Sequence[Message], schema: Mapping[str, Any] | None = None) -> Reply:
        """Answer messages as part of a batch."""
        turns = [{"role": one.role, "content": one.content} for one in messages]
        text = self._tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        tokens = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        one = _Waiting(tokens, schema, asyncio.get_running_loop().create_future())
        self._waiting.append(one)
        if self._answering is None or self._answering.done():
            self._answering = asyncio.create_task(self._answer_all())
        return await one.answered

    async def _answer_all(self) -> None:
        while self._waiting:
            before = 0
            while before < len(self._waiting):
                before = len(self._waiting)
                await asyncio.sleep(_PAUSE)
            taken, self._waiting = self._waiting, []
            for batch in _batches(sorted(taken, key=lambda one: one.tokens), self._most_tokens):
                try:
                    replies = await asyncio.to_thread(self._generate, batch)
                except Exception as error:
                    for one in batch:
                        one.answered.set_exception(error)
                    continue
                for one, reply in zip(batch, replies, strict=True):
                    one.answered.set_result(reply)

    def _generate(self, batch: list[_Waiting]) -> list[Reply]:
        begun = time.monotonic()
        grammars = self._grammars([one.schema for one in batch], self._tokens)
        made = self._decoder.decode([one.tokens for one in batch], _shared(batch), grammars)
        longest, steps = max(len(one.tokens) for one in batch), max(map(len, made))
        spent = time.monotonic() - begun
        print(f"{len(batch)} prompts of up to {longest} tokens, {steps} steps, {spent:.0f} s", file=sys.stderr)
        return [self._reply(one, tokens) for one, tokens in zip(batch, made, strict=True)]

    def _reply(self, one: _Waiting, tokens: list[int]) -> Reply:
        finish = "length" if len(tokens) == self._most_tokens else "stop"
        text = self._tokenizer.decode(tokens, skip_special_tokens=True)
        return Reply(text, usage=Usage(1, len(one.tokens), len(tokens)), finish=finish)


def _shared(batch: Sequence[_Waiting]) -> int:
    """Return the length of the common prefix of a sorted batch, leaving at least one token to read."""
    first, last = batch[0].tokens, batch[-1].tokens
    shortest = min(len(one.tokens) for one in batch) - 1
    return next((place for place in range(shortest) if first[place] != last[place]), shortest)


def _batches(waiting: Sequence[_Waiting], most_tokens: int) -> Iterator[list[_Waiting]]:
    batch: list[_Waiting] = []
    for one in waiting:
        grown = [*batch, one]
        shared, longest = _shared(grown), max(len(each.tokens) for each in grown)
        kept = len(grown) * (longest - shared + most_tokens)
        if batch and (len(grown) > _MOST_AT_ONCE or kept > _MOST_KEPT):
            yield batch
            grown = [one]
        batch = grown
    if batch:
        yield batch
