"""What models charge and how much they may answer, from litellm's price list, and the tokens of a prompt."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weft.providers.litellm_model import load

if TYPE_CHECKING:
    from weft_planner.model import Request

# Beyond this, counting takes long, and a byte for a token is close enough to stop at.
_MOST_COUNTED = 2 * 2**20
# What a provider adds to a message, and to the offer of tools.
_PER_MESSAGE, _FOR_TOOLS = 8, 600
# Tokenizers differ: how many more tokens than OpenAI's count the others' may make of the same text.
_OTHERS = 1.4


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a token, and the most tokens of an answer and a prompt; None where the list has no figure."""

    prompt: float | None = None
    output: float | None = None
    max_output: int | None = None
    context: int | None = None

    @property
    def known(self) -> bool:
        """Whether the most that a call can cost is known."""
        return self.prompt is not None and self.output is not None and self.max_output is not None


def price_of(name: str) -> Price:
    """The price of a model; nothing is known of one that the list lacks. Imports litellm, which takes seconds."""
    try:
        row = dict(load().get_model_info(name))
    except Exception:  # noqa: BLE001 - it raises bare exceptions for models that it does not know
        return Price()
    # The list has several prices of some models: for long prompts, for reasoning, by day. The highest may be asked.
    prompt = _highest(row, "input_cost_per_token", "cache_creation_input_token_cost")
    output = _highest(row, "output_cost_per_token", "output_cost_per_reasoning_token")
    return Price(prompt, output, _count(row.get("max_output_tokens")), _count(row.get("max_input_tokens")))


def _highest(row: dict[str, Any], name: str, other: str) -> float | None:
    if not _is_price(row.get(name)):
        return None
    tiers = [row[key] for key in row if key.startswith(f"{name}_above_") or key in (name, other)]
    return max(float(price) for price in tiers if _is_price(price))


def _is_price(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value) and value >= 0


def _count(value: object) -> int | None:
    return int(value) if isinstance(value, int | float) and math.isfinite(value) and value > 0 else None


def most_prompt_tokens(request: Request) -> int:
    """An upper bound of the prompt's tokens, at once: no tokenizer makes more than one of a byte."""
    return len(_text(request).encode("utf-8", "replace")) + _overhead(request)


def prompt_tokens(name: str, request: Request) -> int:
    """The prompt's tokens as OpenAI's tokenizer counts them, with a margin for other providers'."""
    text = _text(request)
    if len(text) > _MOST_COUNTED:
        return most_prompt_tokens(request)
    try:
        counted = int(load().token_counter(model=name, text=text))
    except Exception:  # noqa: BLE001 - a tokenizer that cannot be loaded raises anything
        return most_prompt_tokens(request)
    share = 1.0 if name.startswith(("openai/", "azure/", "gpt-")) else _OTHERS
    return math.ceil(counted * share) + _overhead(request)


def _overhead(request: Request) -> int:
    return _PER_MESSAGE * len(request.messages) + (_FOR_TOOLS if request.tools or request.schema else 0)


def _text(request: Request) -> str:
    parts = [message.content for message in request.messages]
    parts += [f"{call.name} {call.arguments}" for message in request.messages for call in message.tool_calls]
    for tool in request.tools:
        parts.append(json.dumps([tool.name, tool.description, tool.parameters], ensure_ascii=False, default=str))
    if request.schema is not None:
        parts.append(json.dumps(request.schema, ensure_ascii=False, default=str))
    return "\n".join(parts)
