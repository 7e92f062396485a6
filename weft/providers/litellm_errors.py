"""Every way a provider says no, mapped to our own errors in one place."""

from __future__ import annotations

import math
import os
import re
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from executor.capture.secrets import Secrets
from planner.errors import (
    CallTimedOut,
    ContentRefused,
    FormatRefused,
    KeyRefused,
    ModelError,
    Overloaded,
    PromptTooLong,
    RateLimited,
    RequestRefused,
    ServerFailed,
    ToolsRefused,
    UnknownModel,
    Unreachable,
)

_FORMAT = re.compile(r"response[ _]?format|json_schema|json_object|json mode|structured output|output_config", re.I)
_TOOLS = re.compile(r"\btools?\b|\bfunction.?calling\b|tool_choice", re.I)
_UNSUPPORTED = re.compile(r"support|unsupported|unavailable|not allowed|unrecognized|unknown|invalid", re.I)
_NO_KEY = re.compile(r"missing credentials|api.?key.*(missing|not set|must be set|required|client option)", re.I)
_NO_PROVIDER = re.compile(r"provider not provided|unmapped", re.I)
_NO_MODEL = re.compile(r"model.*(not found|does not exist)", re.I)
_UNCONNECTED = re.compile(r"connection error|cannot connect|connection refused|disconnected|name resolution", re.I)
_NO_JSON = re.compile(r"(Expecting|Unterminated|Invalid|Extra data).*line \d+ column \d+")
_STACK = re.compile(r"\s*Traceback \(most recent call last\).*", re.DOTALL)
NO_PROVIDER = (
    "check the name: the provider stands in front, as in openai/gpt-4o, anthropic/claude-sonnet-4-5 or "
    "ollama_chat/qwen3:4b; --model local needs no account"
)
_PREFIX = re.compile(r"^(litellm\.)?(\w+Error|Timeout):\s*|^\w+Exception\s*-\s*")


def explain(error: Exception, model: str) -> ModelError:
    """Our error for one that litellm raised, with what to do about it."""
    status = getattr(error, "status_code", None)
    kind = type(error).__name__
    text = _message(error)
    if kind == "ContextWindowExceededError":
        return PromptTooLong(f"the prompt is too long for {model}: {text}", hint="use a model with a larger context")
    if kind == "ContentPolicyViolationError":
        return ContentRefused(f"{model} refused the content: {text}", hint="say it differently")
    if kind == "Timeout" or status == 408:
        return CallTimedOut(
            f"{model} did not answer in time: {text}", hint="raise call_timeout, or try again", model=model
        )
    if _NO_KEY.search(text) or status in (401, 403):
        return _key_refused(model, status, text)
    if _NO_PROVIDER.search(text):
        return UnknownModel(f"no provider is known for the model {model!r}", hint=NO_PROVIDER, model=model)
    if _NO_MODEL.search(text) or status == 404:
        return _not_found(model, status, text)
    if _NO_JSON.match(text):
        return ServerFailed(
            f"{model} answered with what is no JSON: {text}", hint="check the API base; is it a model's?", model=model
        )
    if kind in ("APIConnectionError", "BadGatewayError") or _UNCONNECTED.search(text) or status is None:
        return Unreachable(
            f"{model} could not be reached: {text}", hint="check the network and the API base", model=model
        )
    return _by_status(model, status, text, error)


def _by_status(model: str, status: int, text: str, error: Exception) -> ModelError:
    wait = _retry_after(error)
    if status == 429 and "insufficient_quota" in text:
        return KeyRefused(
            f"the quota for {model} is used up: {text}", hint="top up, or use another --model", model=model
        )
    if status == 429:
        return RateLimited(f"{model} asks for fewer calls: {text}", model=model, retry_after=wait)
    if status in (503, 529):
        return Overloaded(f"{model} is overloaded ({status}): {text}", model=model, retry_after=wait)
    if status >= 500:
        return ServerFailed(f"{model} failed ({status}): {text}", model=model, retry_after=wait)
    if _TOOLS.search(text) and _UNSUPPORTED.search(text) and not _FORMAT.search(text):
        return ToolsRefused(f"{model} takes no tools: {text}", model=model)
    if _FORMAT.search(text):
        return FormatRefused(f"{model} does not take this response format: {text}", model=model)
    return RequestRefused(f"{model} refused the request ({status}): {text}", hint="try another --model", model=model)


def _not_found(model: str, status: int | None, text: str) -> ModelError:
    if _TOOLS.search(text) and _UNSUPPORTED.search(text):
        return ToolsRefused(f"{model} takes no tools: {text}", model=model)
    return UnknownModel(
        f"there is no model {model!r} to be had ({status}): {text}",
        hint="check the name with its provider, or choose another model with --model",
        model=model,
    )


def _key_refused(model: str, status: int | None, text: str) -> ModelError:
    provider = model.split("/")[0] if "/" in model else "openai"
    variable = f"{provider.upper().replace('-', '_')}_API_KEY"
    hint = f"set {variable}, or choose another model with --model; `weft doctor` shows what was found"
    if status not in (401, 403):  # it did not get as far as the provider
        return KeyRefused(f"there is no key for {model}", hint=hint, model=model)
    return KeyRefused(f"the provider of {model} refused the key ({status}): {text}", hint=hint, model=model)


def _retry_after(error: Exception) -> float | None:
    headers = getattr(error, "litellm_response_headers", None) or {}
    value = headers.get("retry-after") or headers.get("Retry-After")
    if value is None:
        return None
    with suppress(ValueError):
        seconds = float(value)
        return max(seconds, 0.0) if math.isfinite(seconds) else None
    with suppress(ValueError, TypeError):  # a moment instead of seconds
        return max((parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds(), 0.0)
    return None


def _message(error: Exception) -> str:
    text = str(getattr(error, "message", "") or error)
    while (shorter := _PREFIX.sub("", text)) != text:
        text = shorter
    text = _STACK.sub("", text)  # litellm may add one of its own
    # Some providers repeat the key that they refuse.
    first = " ".join(Secrets.of(os.environ).redact(text).split())
    return first if len(first) <= 400 else first[:400] + "…"
