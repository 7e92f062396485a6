"""Estimates the tokens of a text without a tokenizer, for calls whose provider reports no usage.

Estimates are rather too high than too low: on prose in 17 languages, code, JSON and tables they are 1.0 to 2.5 times
the largest count of OpenAI's (cl100k, o200k) and Anthropic's tokenizers; a test measures it.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from goalwright_planner.model import Usage, image_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goalwright_planner.model import Request, ToolCall

# A sixteenth is added: Finnish and Polish words are long and have rare parts.
_MARGIN = 16
# The tokens that a provider adds to a message, and for tools.
_PER_MESSAGE, _FOR_TOOLS = 8, 600
# More tokens than any call can have.
_MOST_TOKENS = 10**9

# Each match is a token: three letters of a word, two capitals or digits, a sign, a line break, several spaces. A single
# space belongs to the next word, unless the previous one is in a script that tokenizers have few tokens for.
_ASCII = re.compile(
    r"[A-Z][a-z]{1,2}|[a-z]{1,3}|[A-Z]{1,2}|[0-9]{1,2}|\s{2,}|[^\S ]|(?<=[^\x00-\x7f]) "
    r"|[!-/:-@\[-`{-~\x00-\x08\x0e-\x1f\x7f]"
)
# Cyrillic letters take at most one token, East Asian characters two on average; others take one per byte.
_CYRILLIC = re.compile(r"[\u0400-\u052f]")
_EAST_ASIAN = re.compile(r"[\u3000-\u9fff\uac00-\ud7a3\uff00-\uffef]")
_OTHERS = re.compile(r"[^\x00-\x7f\u0400-\u052f\u3000-\u9fff\uac00-\ud7a3\uff00-\uffef]+")


# Longer texts are sampled in 64 pieces: counting blocks the event loop, and eight million characters take a second.
_MAX_COUNTED, _PIECES = 2**18, 64


def text_tokens(text: str) -> int:
    """Estimate the tokens of a text, at most one per byte."""
    tokens = _matches(text) if len(text) <= _MAX_COUNTED else _sampled(text)
    return min(tokens + tokens // _MARGIN, len(text.encode("utf-8", "replace")))


def _matches(text: str) -> int:
    tokens = len(_ASCII.findall(text))
    if not text.isascii():
        others = "".join(_OTHERS.findall(text)).encode("utf-8", "replace")
        tokens += len(_CYRILLIC.findall(text)) + 2 * len(_EAST_ASIAN.findall(text)) + len(others)
    return tokens


def _sampled(text: str) -> int:
    """Estimate the matches of a long text from evenly spaced pieces."""
    size = _MAX_COUNTED // _PIECES
    step = (len(text) - size) / (_PIECES - 1)
    starts = (round(number * step) for number in range(_PIECES))
    matches = sum(_matches(text[start : start + size]) for start in starts)
    return -(-matches * len(text) // _MAX_COUNTED)


def prompt_tokens(request: Request) -> int:
    """Estimate the tokens of a request's prompt."""
    return text_tokens(_prompt(request)) + _overhead(request)


def most_prompt_tokens(request: Request) -> int:
    """An upper bound of the prompt's tokens, available at once: one per byte."""
    return len(_prompt(request).encode("utf-8", "replace")) + _overhead(request)


def sound(usage: Usage) -> Usage:
    """The usage, with 0 for impossible values: negative, fractional or infinite."""
    calls, prompt, completion, cached, estimated = map(
        _count,
        (usage.calls, usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens, usage.estimated_calls),
    )
    valid = Usage(calls, prompt, completion, min(cached, prompt), min(estimated, calls))
    return usage if valid == usage else valid


def completed(usage: Usage, request: Request, answer: str, total: object = 0) -> Usage:
    """The usage of one call, with estimates for values that its provider did not report, or reported as 0.

    An empty answer has no tokens. `total` is the reported sum of prompt and answer, which may be all there is.
    """
    usage, total = sound(usage), _count(total)
    is_complete = usage.prompt_tokens and (usage.completion_tokens or not answer)
    if not usage.calls or usage.estimated_calls or is_complete:
        return usage
    prompt = usage.prompt_tokens or prompt_tokens(request)
    if usage.completion_tokens and not usage.prompt_tokens:
        prompt = max(prompt, total - usage.completion_tokens)
    completion = usage.completion_tokens or max(text_tokens(answer), total - prompt, 0)
    return Usage(usage.calls, prompt, completion, usage.cached_tokens, 1)


def broken(request: Request, received: str) -> Usage:
    """The estimated usage of a call that broke off, from its prompt and the received part of its answer."""
    return Usage(1, prompt_tokens(request), text_tokens(received), 0, 1)


def answer_text(text: str, calls: Iterable[ToolCall]) -> str:
    """The whole output of a model: its text and its tool calls."""
    return "\n".join([text, *(f"{call.name} {call.arguments}" for call in calls)]).strip("\n")


def _count(value: object) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS else 0


def _overhead(request: Request) -> int:
    images = sum(map(image_tokens, request.images))
    return _PER_MESSAGE * len(request.messages) + (_FOR_TOOLS if request.tools or request.schema else 0) + images


def _prompt(request: Request) -> str:
    parts = [answer_text(message.content, message.tool_calls) for message in request.messages]
    schemas: list[object] = [[tool.name, tool.description, tool.parameters] for tool in request.tools]
    if request.schema is not None:
        schemas.append(request.schema)
    return "\n".join([*parts, *(json.dumps(schema, ensure_ascii=False, default=str) for schema in schemas)])
