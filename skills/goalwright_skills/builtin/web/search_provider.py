"""Where `WebSearch` looks: the provider that the user's own settings name in a table `[search]`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

ProviderName = Literal["searxng", "brave", "tavily"]
# The address of each provider, and the variables that may have its key. A SearXNG has its own address, and no key.
_URLS = {"brave": "https://api.search.brave.com/res/v1/web/search", "tavily": "https://api.tavily.com/search"}
_KEYS = {"brave": ("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY"), "tavily": ("TAVILY_API_KEY",)}
_FORM = 'such as provider = "searxng" and url = "http://127.0.0.1:8888"'


@dataclass(frozen=True, slots=True)
class SearchProvider:
    """A provider and the address that it is asked at."""

    provider: ProviderName
    url: str

    @property
    def key_names(self) -> tuple[str, ...]:
        """The variables that may have its key; the first is the one to name."""
        return _KEYS.get(self.provider, ())

    def key(self, env: Mapping[str, str] | None = None) -> str:
        """Its key, from the environment; empty if there is none."""
        env = os.environ if env is None else env
        return next((env[name] for name in self.key_names if env.get(name)), "")

    def __str__(self) -> str:
        return f"{self.provider} at {self.url}"


def read(raw: Any) -> SearchProvider:
    """The provider in a table; raises ValueError with what is wrong with it."""
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
