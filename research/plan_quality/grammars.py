"""Grammars of JSON schemas with llguidance, which restrict the next tokens of a sequence."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import llguidance
import llguidance.torch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class _Vocabulary:
    """The tokens of a byte-level tokenizer as bytes, as llguidance expects them."""

    def __init__(self, tokenizer: Any, size: int) -> None:
        bytes_of = {letter: byte for byte, letter in _letters().items()}
        special = set(tokenizer.all_special_ids) | set(tokenizer.added_tokens_decoder)
        names = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
        self.tokens = [
            f"\xff{place}".encode() if name is None or place in special else _bytes(name, bytes_of)
            for place, name in enumerate([*names, *[None] * (size - len(names))])
        ]
        self.special_token_ids = sorted(special)
        self.eos_token_id, self.bos_token_id = tokenizer.eos_token_id, None
        self._tokenizer = tokenizer

    def __call__(self, text: str) -> list[int]:
        found: list[int] = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        return found


def grammar_tokens(tokenizer: Any, size: int) -> Any:
    """Return the tokens for grammars."""
    return llguidance.LLTokenizer(llguidance.TokenizerWrapper(_Vocabulary(tokenizer, size)), n_vocab=size)


class Grammars:
    """The grammars of sequences with a schema; other sequences are not restricted."""

    def __init__(self, schemas: Sequence[Mapping[str, Any] | None], tokens: Any) -> None:
        self._matchers: dict[int, Any] = {}
        made: dict[str, Any] = {}
        for row, schema in enumerate(schemas):
            if schema is None:
                continue
            key = json.dumps(schema)
            if key not in made:
                made[key] = llguidance.LLMatcher(tokens, _grammar(schema))
                if made[key].is_error():
                    raise ValueError(made[key].get_error())
            self._matchers[row] = made[key].deep_copy()
        self._vocabulary = tokens.vocab_size
        self._threads = llguidance.LLExecutor(num_threads=os.cpu_count() or 1)

    def restrict(self, scores: Any, rows: Sequence[int]) -> None:
        """Mask the tokens that are not allowed next."""
        places = [place for place, row in enumerate(rows) if row in self._matchers]
        if not places:
            return
        mask = llguidance.torch.allocate_token_bitmask(len(places), self._vocabulary)
        ready = [(self._matchers[rows[place]], at) for at, place in enumerate(places)]
        llguidance.torch.fill_next_token_bitmask_par(self._threads, ready, mask)
        some = scores[places]
        llguidance.torch.apply_token_bitmask_inplace(some, mask.to(scores.device))
        scores[places] = some

    def take(self, row: int, token: int) -> None:
        """Advance the grammar of a sequence."""
        if row in self._matchers:
            self._matchers[row].consume_token(token)


def _grammar(schema: Mapping[str, Any]) -> str:
    grammar: str = llguidance.LLMatcher.grammar_from_json_schema(dict(schema), overrides={"whitespace_flexible": False})
    return grammar


def _bytes(name: str, bytes_of: Mapping[str, int]) -> bytes:
    return bytes(bytes_of[letter] for letter in name) if all(letter in bytes_of for letter in name) else name.encode()


def _letters() -> dict[int, str]:
    """Return the letter of each byte in byte-level tokenizers: itself if printable, else from 256."""
    seen = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    unseen = [byte for byte in range(256) if byte not in seen]
    return {byte: chr(byte) for byte in seen} | {byte: chr(256 + place) for place, byte in enumerate(unseen)}
