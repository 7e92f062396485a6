"""Parses requests: JSON and raw bodies within limits, and numbers in the query."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, TypeVar

from goalwright.interfaces.web.errors import HttpError
from goalwright_skills.errors import InputError
from goalwright_skills.text.formatting import plural

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Mapping
    from pathlib import Path

    from starlette.requests import Request

BODY = 1_000_000
PLAN = 20_000_000
FILE = 20_000_000
ARCHIVE = 100_000_000
PAGE = 500
_BIGGEST_NUMBER = 2**53
Kind = TypeVar("Kind")
# Bytes that may be part of a lone surrogate, escaped or not.
_SURROGATE = re.compile(rb"\\u[dD]|\xed")


async def document(request: Request, *keys: str, limit: int = BODY) -> dict[str, Any]:
    """Return the JSON object in a request's body, empty without a body; raise if it has other keys than these."""
    data = await _data(request, limit)
    body: dict[str, Any] = _parsed(data, dict, "JSON object", "send one JSON object") if data else {}
    check_keys(body, keys)
    return body


def check_keys(body: Mapping[str, Any], keys: Collection[str]) -> None:
    """Raise if there is an unknown key: it may be misspelled, and its value would be ignored."""
    if unknown := [key for key in body if key not in keys]:
        shown = ", ".join(map(_short, unknown[:5])) + (", …" if len(unknown) > 5 else "")
        hint = f"known keys: {', '.join(keys)}" if keys else "send no body, or {}"
        raise InputError(f"unknown {plural(len(unknown), 'key', 'keys')} in the body: {shown}", hint=hint)


async def rows(request: Request) -> list[Any]:
    """Return the JSON list in a request's body."""
    return _parsed(await _data(request, BODY), list, "JSON list", "send a JSON list")


async def _data(request: Request, limit: int) -> bytes:
    return b"".join([chunk async for chunk in _chunks(request, limit, "application/json")])


def _parsed(data: bytes, kind: type[Kind], name: str, hint: str) -> Kind:
    try:
        value = json.loads(data)
        is_encodable = _SURROGATE.search(data) is None or _can_encode(value)
    except (ValueError, RecursionError) as error:
        raise InputError(f"the body is not JSON: {error}", hint=hint) from error
    if not is_encodable:
        raise InputError("the body has half of a surrogate pair", hint="send whole characters, as UTF-8")
    if not isinstance(value, kind):
        raise InputError(f"the body is not a {name}", hint=hint)
    return value


def _can_encode(value: Any) -> bool:
    """Return whether all strings of a JSON value can be encoded as UTF-8."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


async def save(request: Request, path: Path, limit: int) -> int:
    """Write a raw body to a new file, and return its size."""
    size = 0
    with path.open("xb") as file:
        async for chunk in _chunks(request, limit, "application/octet-stream"):
            size += len(chunk)
            file.write(chunk)
    return size


async def _chunks(request: Request, limit: int, kind: str) -> AsyncIterator[bytes]:
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if chunk and size == len(chunk) and request.headers.get("content-type", "").partition(";")[0].strip() != kind:
            raise HttpError(415, "WRONG_TYPE", f"this body must be {kind}", hint=f"send Content-Type: {kind}")
        if size > limit:
            raise HttpError(413, "TOO_LARGE", f"the body has more than {limit:,} bytes", hint="send less")
        yield chunk


def number(request: Request, name: str, default: int, most: int = _BIGGEST_NUMBER) -> int:
    """Return a number in the query, at most `most`."""
    text = request.query_params.get(name, "")
    if not text:
        return default
    if not text.isascii() or not text.isdecimal() or len(text) > 16:
        raise InputError(f"{name}={text[:40]!r} is not a number", hint=f"for example: {name}={default}")
    return min(int(text), most)


def text(body: Mapping[str, Any], name: str, default: str = "") -> str:
    """Return a string in a body."""
    value = body.get(name)
    if value is None:
        return default
    if not isinstance(value, str):
        raise InputError(f"{name!r} must be a string, not {_short(value)}", hint="see docs/serve.md")
    return value


def texts(body: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return a list of strings in a body; a single string counts as a list."""
    value = body.get(name)
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise InputError(f"{name!r} must be a list of strings, not {_short(value)}", hint="see docs/serve.md")
    return tuple(value)


def mapping(body: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return an object in a body."""
    value = body.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InputError(f"{name!r} must be an object, not {_short(value)}", hint="see docs/serve.md")
    return value


def text_mapping(body: Mapping[str, Any], name: str) -> dict[str, str]:
    """Return an object in a body whose values are strings."""
    values = mapping(body, name)
    if not all(isinstance(item, str) for item in values.values()):
        raise InputError(f"the values of {name!r} must be strings", hint="see docs/serve.md")
    return values


def flag(body: Mapping[str, Any], name: str) -> bool:
    """Return a Boolean in a body."""
    value = body.get(name, False)
    if not isinstance(value, bool):
        raise InputError(f"{name!r} must be true or false, not {_short(value)}", hint="see docs/serve.md")
    return value


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 40 else shown[:40] + "…"
