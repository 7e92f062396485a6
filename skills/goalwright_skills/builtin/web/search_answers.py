"""What search providers are asked and what they answer: SearXNG, Brave and Tavily."""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goalwright_skills.text.untrusted import spelled_out, without_format
from goalwright_skills.tools.fault import ToolFault

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import httpx

    from goalwright_skills.builtin.web.search_provider import SearchProvider

_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
_SPACE = re.compile(r"\s+")
_URL = re.compile(r"https?://[^\s<>\"]{1,1000}")
_LONGEST_TITLE, _LONGEST_TEXT = 200, 2_000
# Where the list of results stands, and what each calls its text.
_LISTS = {"searxng": ("results",), "brave": ("web", "results"), "tavily": ("results",)}
_TEXTS = {"searxng": "content", "brave": "description", "tavily": "content"}


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One result: plain text, whatever the provider sent."""

    title: str
    url: str
    text: str


def request(client: httpx.AsyncClient, where: SearchProvider, query: str, limit: int, key: str) -> httpx.Request:
    """The request for a search."""
    match where.provider:
        case "searxng":
            address = where.url if where.url.endswith("/search") else f"{where.url}/search"
            return client.build_request("GET", address, params={"q": query, "format": "json"})
        case "brave":
            headers = {"X-Subscription-Token": key, "Accept": "application/json"}
            return client.build_request("GET", where.url, params={"q": query, "count": limit}, headers=headers)
        case "tavily":
            body, headers = {"query": query, "max_results": limit}, {"Authorization": f"Bearer {key}"}
            return client.build_request("POST", where.url, json=body, headers=headers)


def results(where: SearchProvider, data: bytes, limit: int) -> list[SearchResult]:
    """The results in an answer; raises ToolFault if it is not one of that provider."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ToolFault("EXECUTION_ERROR", f"{where} does not answer with JSON — go on without it") from error
    for name in _LISTS[where.provider]:
        found = found.get(name) if isinstance(found, dict) else None
    if found is None and where.provider == "brave":
        return []  # it leaves the list out where nothing is found
    if not isinstance(found, list):
        what = f"{where} does not answer as {where.provider} does"
        raise ToolFault("EXECUTION_ERROR", f"{what} — go on without it, and say so")
    return list(_read(found, _TEXTS[where.provider], limit))


def _read(rows: list[Any], text: str, limit: int) -> Iterator[SearchResult]:
    seen: set[str] = set()
    for row in rows:
        url = row.get("url") if isinstance(row, dict) else None
        if isinstance(url, str) and _URL.fullmatch(url) and url.isprintable() and url not in seen:
            seen.add(url)
            yield SearchResult(_plain(row, "title", _LONGEST_TITLE), url, _plain(row, text, _LONGEST_TEXT))
        if len(seen) == limit:
            return


def _plain(row: Mapping[str, Any], key: str, longest: int) -> str:
    """A text of a row as one plain line: providers put tags and entities into it."""
    value = row.get(key)
    value = value[: 4 * longest] if isinstance(value, str) else ""
    plain = without_format(html.unescape(_TAG.sub("", value)))
    return spelled_out(_SPACE.sub(" ", plain).strip())[:longest]
