"""The tokens of a text without a tokenizer, for what a provider does not report.

Meant to be too high rather than too low: on prose in 17 languages, code, JSON and tables it is 1.0 to 2.5 times what
the tokenizers of OpenAI (cl100k, o200k) and Anthropic count, whichever counts most; a test measures it.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from goalwright_planner.model import Usage, image_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goalwright_planner.model import Request, ToolCall

# A sixteenth is added: Finnish and Polish words are long, and their parts rare.
_MARGIN = 16
# What a provider adds to a message, and to the offer of tools.
_PER_MESSAGE, _FOR_TOOLS = 8, 600
# No call has this many tokens.
_MOST_TOKENS = 10**9

# Each match is a token: three letters of a word, two capitals or digits, a sign, a line break, a gap. A single space
# belongs to the word behind it, unless the word before is of a script that tokenizers know little of.
_ASCII = re.compile(
    r"[A-Z][a-z]{1,2}|[a-z]{1,3}|[A-Z]{1,2}|[0-9]{1,2}|\s{2,}|[^\S ]|(?<=[^\x00-\x7f]) "
    r"|[!-/:-@\[-`{-~\x00-\x08\x0e-\x1f\x7f]"
)
# Letters that take at most one token, and characters that take two on average; any other takes one for each byte.
_CYRILLIC = re.compile(r"[\u0400-\u052f]")
_EAST_ASIAN = re.compile(r"[\u3000-\u9fff\uac00-\ud7a3\uff00-\uffef]")
_REST = re.compile(r"[^\x00-\x7f\u0400-\u052f\u3000-\u9fff\uac00-\ud7a3\uff00-\uffef]+")


# Matches are counted in texts of up to this many characters, and in so many pieces of longer ones: nothing else runs
# meanwhile, and eight million characters took a second.
_WHOLE, _PIECES = 2**18, 64


def text_tokens(text: str) -> int:
    """About how many tokens a text has, rather too many than too few; no tokenizer makes more than one of a byte."""
    tokens = _matches(text) if len(text) <= _WHOLE else _sampled(text)
    return min(tokens + tokens // _MARGIN, len(text.encode("utf-8", "replace")))


def _matches(text: str) -> int:
    tokens = len(_ASCII.findall(text))
    if not text.isascii():
        rest = "".join(_REST.findall(text)).encode("utf-8", "replace")
        tokens += len(_CYRILLIC.findall(text)) + 2 * len(_EAST_ASIAN.findall(text)) + len(rest)
    return tokens


def _sampled(text: str) -> int:
    """The matches of a long text, by those in pieces of it, equally far apart, from its beginning to its end."""
    size = _WHOLE // _PIECES
    apart = (len(text) - size) / (_PIECES - 1)
    found = sum(_matches(text[at : at + size]) for at in (round(number * apart) for number in range(_PIECES)))
    return -(-found * len(text) // _WHOLE)


def prompt_tokens(request: Request) -> int:
    """About how many tokens a request's prompt has."""
    return text_tokens(_prompt(request)) + _overhead(request)


def most_prompt_tokens(request: Request) -> int:
    """An upper bound of the prompt's tokens, at once: no tokenizer makes more than one of a byte."""
    return len(_prompt(request).encode("utf-8", "replace")) + _overhead(request)


def sound(usage: Usage) -> Usage:
    """The usage, with 0 for impossible figures: negative, not whole, not finite."""
    calls, prompt, completion, cached, estimated = map(
        _count,
        (usage.calls, usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens, usage.estimated_calls),
    )
    right = Usage(calls, prompt, completion, min(cached, prompt), min(estimated, calls))
    return usage if right == usage else right


def completed(usage: Usage, request: Request, answer: str, total: object = 0) -> Usage:
    """The usage of one call, with estimates for what its provider did not report, or said to be 0.

    An empty answer has no tokens. `total` is what the provider says of prompt and answer together, if that is all.
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
    """What a call took that broke off: what was sent, and what of its answer had come."""
    return Usage(1, prompt_tokens(request), text_tokens(received), 0, 1)


def answer_text(text: str, calls: Iterable[ToolCall]) -> str:
    """All that a model wrote: its text, and the calls of tools that it asks for."""
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
    offered: list[object] = [[tool.name, tool.description, tool.parameters] for tool in request.tools]
    if request.schema is not None:
        offered.append(request.schema)
    return "\n".join([*parts, *(json.dumps(what, ensure_ascii=False, default=str) for what in offered)])
