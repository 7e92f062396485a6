"""The search provider in the user's `[search]` settings, its requests and its responses."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from goalwright_skills.text.untrusted import spelled_out, without_format
from goalwright_skills.tools.tool import ToolFault

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx


ProviderName = Literal["searxng", "brave", "tavily"]
# The URL of each provider, and the variables of its key. A SearXNG instance has its own URL and no key.
_URLS = {"brave": "https://api.search.brave.com/res/v1/web/search", "tavily": "https://api.tavily.com/search"}
_KEYS = {"brave": ("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY"), "tavily": ("TAVILY_API_KEY",)}
_FORM = 'such as provider = "searxng" and url = "http://127.0.0.1:8888"'


@dataclass(frozen=True, slots=True)
class SearchProvider:
    """A provider and its URL."""

    provider: ProviderName
    url: str

    @property
    def key_names(self) -> tuple[str, ...]:
        """The environment variables of its key, the preferred one first."""
        return _KEYS.get(self.provider, ())

    def key(self, env: Mapping[str, str] | None = None) -> str:
        """Return its key from the environment; empty if there is none."""
        env = os.environ if env is None else env
        return next((env[name] for name in self.key_names if env.get(name)), "")

    def __str__(self) -> str:
        return f"{self.provider} at {self.url}"


def read(raw: Any) -> SearchProvider:
    """Parse the settings of a provider; raises ValueError."""
    if isinstance(raw, SearchProvider):
        return raw
    if not isinstance(raw, Mapping):
        raise ValueError(f"must be a table [search] in your own config.toml, {_FORM}, not {raw!r}")  # noqa: TRY004
    if unknown := [str(key) for key in raw if key not in ("provider", "url")]:
        raise ValueError(f"has the key {unknown[0]!r}; give `provider` and `url`, {_FORM}; keys are in the environment")
    name: Any = raw.get("provider")
    if name not in get_args(ProviderName):
        raise ValueError(f"must have a provider of {', '.join(get_args(ProviderName))}, not {name!r}")
    url = raw.get("url", _URLS.get(name))
    if not isinstance(url, str) or not _is_address(url):
        raise ValueError(f"must have the address of {name} as url, {_FORM}, not {url!r}")
    return SearchProvider(name, url.rstrip("/"))


def _is_address(url: str) -> bool:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None and parts.port != 0
    except ValueError:
        return False


_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
_SPACE = re.compile(r"\s+")
_URL = re.compile(r"https?://[^\s<>\"]{1,1000}")
_LONGEST_TITLE, _LONGEST_TEXT = 200, 2_000
# The path of the list of results, and the key of a result's text.
_LISTS = {"searxng": ("results",), "brave": ("web", "results"), "tavily": ("results",)}
_TEXTS = {"searxng": "content", "brave": "description", "tavily": "content"}


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One result, as plain text."""

    title: str
    url: str
    text: str


def request(client: httpx.AsyncClient, provider: SearchProvider, query: str, limit: int, key: str) -> httpx.Request:
    """Return the request for a search."""
    match provider.provider:
        case "searxng":
            address = provider.url if provider.url.endswith("/search") else f"{provider.url}/search"
            return client.build_request("GET", address, params={"q": query, "format": "json"})
        case "brave":
            headers = {"X-Subscription-Token": key, "Accept": "application/json"}
            return client.build_request("GET", provider.url, params={"q": query, "count": limit}, headers=headers)
        case "tavily":
            body, headers = {"query": query, "max_results": limit}, {"Authorization": f"Bearer {key}"}
            return client.build_request("POST", provider.url, json=body, headers=headers)


def results(provider: SearchProvider, data: bytes, limit: int) -> list[SearchResult]:
    """Parse the results in a response; raises ToolFault if it is not a response of that provider."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ToolFault("EXECUTION_ERROR", f"{provider} did not answer with JSON — go on without it") from error
    for name in _LISTS[provider.provider]:
        document = document.get(name) if isinstance(document, dict) else None
    if document is None and provider.provider == "brave":
        return []  # the list is omitted if there are no results
    if not isinstance(document, list):
        problem = f"{provider} did not answer like {provider.provider}"
        raise ToolFault("EXECUTION_ERROR", f"{problem} — go on without it, and mention this")
    return list(_read(document, _TEXTS[provider.provider], limit))


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
    """Return a text of a row as one line without the tags and entities that providers insert."""
    value = row.get(key)
    value = value[: 4 * longest] if isinstance(value, str) else ""
    import html  # here: the settings import this module

    plain = without_format(html.unescape(_TAG.sub("", value)))
    return spelled_out(_SPACE.sub(" ", plain).strip())[:longest]
