"""Maps litellm's exceptions to goalwright's own errors."""

from __future__ import annotations

import math
import os
import re
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from goalwright.settings import ollama
from goalwright_executor.capture.secrets import Secrets
from goalwright_planner.errors import (
    CallTimedOut,
    ContentRefused,
    FormatRefused,
    ImagesRefused,
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
_IMAGES = re.compile(r"\bimages?\b|image_url|image.input|\bvision\b|multi-?modal", re.I)
_NO_IMAGES = re.compile(r"support|multi-?modal|at most 0|unknown variant|unexpected.*type", re.I)
_BAD_IMAGE = re.compile(
    r"image.(format|type|data|size)|unsupported image|media.?type", re.I
)  # a different image may be accepted
_UNSUPPORTED = re.compile(r"support|unsupported|unavailable|not allowed|unrecognized|unknown|invalid", re.I)
_NO_KEY = re.compile(r"missing credentials|api.?key.*(missing|not set|must be set|required|client option)", re.I)
_NO_PROVIDER = re.compile(r"provider not provided|unmapped", re.I)
_NO_MODEL = re.compile(r"model.*(not found|does not exist)", re.I)
_UNCONNECTED = re.compile(r"connection error|cannot connect|connection refused|disconnected|name resolution", re.I)
_NO_JSON = re.compile(r"(Expecting|Unterminated|Invalid|Extra data).*line \d+ column \d+")
_STACK = re.compile(r"\s*Traceback \(most recent call last\).*", re.DOTALL)
_OBJECT = re.compile(r"\s*\bssl:(?:default|<[^>]*>)")
_ADDRESS = re.compile(r"https?://|\bhost \S+:\d+")
_NETWORK = "check the network connection and the API base"
NO_PROVIDER = (
    "check the name: it begins with the provider, as in openai/gpt-6.1-sol, anthropic/claude-sonnet-5-5 or "
    "ollama_chat/qwen3:4b; the model `local` needs no account"
)
# Some errors quote the whole answer of the provider.
_MAX_SEARCHED = 8_000
_MAX_CAUSES = 10
_PREFIX = re.compile(r"^(litellm\.)?(\w+Error|Timeout):\s*|^\w+Exception\s*-\s*")


def says_no_provider(text: str) -> bool:
    """Whether an error of litellm says that no provider is known for a model."""
    return _NO_PROVIDER.search(text) is not None


def explain(error: Exception, model: str, api_base: str | None = None) -> ModelError:
    """Return goalwright's error for an exception of litellm; `api_base` is the configured address, if any."""
    status = getattr(error, "status_code", None)
    kind = type(error).__name__
    text = _message(error)
    if kind == "ContextWindowExceededError":
        return PromptTooLong(
            f"the prompt is too long for {model}: {text}", hint="use a model with a larger context window"
        )
    if kind == "ContentPolicyViolationError":
        return ContentRefused(f"{model} refused the content: {text}", hint="rephrase the goal, or use another model")
    if kind == "Timeout" or status == 408:
        return CallTimedOut(
            f"{model} did not answer in time: {text}", hint="raise call_timeout, or try again", model=model
        )
    if _NO_KEY.search(text) or status in (401, 403):
        return _key_refused(model, status, text)
    if says_no_provider(text):
        return UnknownModel(f"no provider is known for the model {model!r}", hint=NO_PROVIDER, model=model)
    if _NO_MODEL.search(text) or status == 404:
        return _not_found(model, status, text)
    if _NO_JSON.match(text):
        return ServerFailed(
            f"{model} did not answer with JSON: {text}",
            hint="check that the API base is the address of a model API",
            model=model,
        )
    if kind in ("APIConnectionError", "BadGatewayError") or _UNCONNECTED.search(text) or status is None:
        hint = "start it with `ollama serve`, or set OLLAMA_API_BASE" if _is_ollama(model) else _NETWORK
        address = _address(error, model, api_base)
        location = f" at {address}" if address and not _ADDRESS.search(text) else ""
        return Unreachable(f"{model} could not be reached{location}: {text}", hint=hint, model=model)
    return _by_status(model, status, text, error)


def _is_ollama(model: str) -> bool:
    return model.startswith(("ollama/", "ollama_chat/"))


def _address(error: Exception, model: str, api_base: str | None) -> str:
    """The address of a model: the configured one, that of an environment variable, or that of the failed request."""
    if api_base is None and _is_ollama(model):
        api_base = ollama.base_url(os.environ)
    provider = model.partition("/")[0].upper().replace("-", "_") if "/" in model else "OPENAI"
    variables = (f"{provider}_API_BASE", f"{provider}_BASE_URL")
    address = api_base or next(filter(None, map(os.environ.get, variables)), None) or _request_address(error)
    return Secrets.of(os.environ).redact(address).rstrip("/")


def _request_address(error: Exception) -> str:
    """The server of the request that caused an error; litellm's own exceptions have a made-up request."""
    cause = error.__cause__ or error.__context__
    for _ in range(_MAX_CAUSES):
        if cause is None:
            return ""
        if not type(cause).__module__.startswith("litellm"):
            with suppress(AttributeError, RuntimeError):  # httpx raises the latter if there is no request
                url = cause.request.url  # type: ignore[attr-defined]
                return f"{url.scheme}://{url.netloc.decode('ascii', 'replace')}"
        cause = cause.__cause__ or cause.__context__
    return ""


def _refuses_images(text: str) -> bool:
    """Whether an error says that the model does not accept any image."""
    return bool(_IMAGES.search(text) and _NO_IMAGES.search(text) and not _BAD_IMAGE.search(text))


def _by_status(model: str, status: int, text: str, error: Exception) -> ModelError:
    wait = _retry_after(error)
    if status != 429 and _refuses_images(text):
        return _images_refused(model, text)
    if status == 429 and "insufficient_quota" in text:
        return KeyRefused(
            f"the quota for {model} is used up: {text}", hint="add credit, or use another model", model=model
        )
    if status == 429:
        return RateLimited(f"{model} is rate-limited (429): {text}", model=model, retry_after=wait)
    if status in (503, 529):
        return Overloaded(f"{model} is overloaded ({status}): {text}", model=model, retry_after=wait)
    if status >= 500:
        return ServerFailed(f"{model} failed ({status}): {text}", model=model, retry_after=wait)
    if _TOOLS.search(text) and _UNSUPPORTED.search(text) and not _FORMAT.search(text):
        return ToolsRefused(f"{model} does not support tools: {text}", model=model)
    if _FORMAT.search(text):
        return FormatRefused(f"{model} does not support this response format: {text}", model=model)
    return RequestRefused(f"{model} refused the request ({status}): {text}", hint="try another model", model=model)


def _images_refused(model: str, text: str) -> ModelError:
    hint = "use a model that accepts images"
    return ImagesRefused(f"{model} does not accept images: {text}", hint=hint, model=model)


def _not_found(model: str, status: int | None, text: str) -> ModelError:
    if _refuses_images(text):
        return _images_refused(model, text)
    if _TOOLS.search(text) and _UNSUPPORTED.search(text):
        return ToolsRefused(f"{model} does not support tools: {text}", model=model)
    return UnknownModel(
        f"model {model!r} was not found ({status}): {text}",
        hint="check the name in the provider's documentation, or choose another model",
        model=model,
    )


def _key_refused(model: str, status: int | None, text: str) -> ModelError:
    provider = model.split("/")[0] if "/" in model else "openai"
    variable = f"{provider.upper().replace('-', '_')}_API_KEY"
    hint = f"set {variable}, or choose another model; `goalwright doctor` shows the keys that were found"
    if status not in (401, 403):  # litellm did not send the request
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
    with suppress(ValueError, TypeError):  # a date instead of seconds
        return max((parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds(), 0.0)
    return None


def _message(error: Exception) -> str:
    text = str(getattr(error, "message", "") or error)[:_MAX_SEARCHED]
    while (shorter := _PREFIX.sub("", text)) != text:
        text = shorter
    text = _OBJECT.sub("", _STACK.sub("", text))  # litellm may append a stack trace, and aiohttp its SSL context
    # Some providers quote the key that they refuse.
    line = " ".join(Secrets.of(os.environ).redact(text).split())
    return line if len(line) <= 400 else line[:400] + "…"
