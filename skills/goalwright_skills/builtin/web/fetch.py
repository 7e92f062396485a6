"""Fetches a web page: checks every redirect, pins the resolved address, limits size and time."""

from __future__ import annotations

import asyncio
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goalwright_skills import certificates
from goalwright_skills.builtin.web.hosts import Resolve, check_host, pinned, resolve, system_proxy
from goalwright_skills.ip_addresses import literal
from goalwright_skills.tools.tool import ToolFault

if TYPE_CHECKING:
    from collections.abc import Sequence

    import httpx

    from goalwright_skills.builtin.web.hosts import AllowedHost

SIZE_LIMIT = 2 * 1024**2
SECONDS = 20.0
REDIRECTS = 5
LONGEST = 4_000
_HEADERS = {
    "User-Agent": "goalwright",
    "Accept": "text/html,application/xhtml+xml,text/*,application/json;q=0.9,*/*;q=0.5",
    "Accept-Encoding": "gzip",
}
_MOVED = (301, 302, 303, 307, 308)


@dataclass(frozen=True, slots=True)
class Page:
    """A response: its final URL, its type and content, and whether it was truncated."""

    url: str
    kind: str
    charset: str
    data: bytes
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Fetcher:
    """Reads pages of allowed hosts; a proxy is used only if `proxy` is true, since it prevents pinning the address."""

    allowed: Sequence[AllowedHost]
    proxy: bool = False
    resolve: Resolve = resolve

    async def fetch(self, url: str) -> Page:
        """Read a page; raises ToolFault."""
        try:
            async with asyncio.timeout(SECONDS):
                return await self._follow(url)
        except TimeoutError as error:
            raise ToolFault("TIMEOUT", f"{url} took longer than {SECONDS:g} s — go on without it") from error

    async def _follow(self, url: str) -> Page:
        current = _parsed(url)
        for _ in range(REDIRECTS + 1):
            self._check_host(current, url)
            result = await self._read(current)
            if isinstance(result, Page):
                return result
            current = result
        raise ToolFault("EXECUTION_ERROR", f"{url} redirects more than {REDIRECTS} times — go on without it")

    def _check_host(self, url: httpx.URL, first: str) -> None:
        redirect = "" if str(url) == first else f", to which {first} redirects,"
        check_host(_host(url), _port(url), self.allowed, f"{_shown(url)}{redirect}")

    async def _read(self, url: httpx.URL) -> Page | httpx.URL:
        """Return the page, or the URL of a redirect."""
        import httpx

        proxy = system_proxy(url.scheme, _host(url))
        if proxy is not None and not self.proxy:
            problem = "the web is reached through a proxy here, so addresses cannot be checked"
            raise ToolFault("ACCESS_DENIED", f"{problem} — the user can allow it with web_proxy = true")
        target, extensions = url, {}
        if proxy is None or literal(_host(url)) is not None:
            address = await pinned(_host(url), _port(url), self.allowed, "allow_web", self.resolve)
            target = url.copy_with(host=str(address))
            extensions = {"sni_hostname": _host(url)}
        host = url.netloc.decode("ascii")
        try:
            async with web_client(proxy, SECONDS) as client:
                request = client.build_request(
                    "GET", url if proxy else target, headers={**_HEADERS, "Host": host}, extensions=extensions
                )
                response = await client.send(request, stream=True)
                try:
                    return await _page(url, response)
                finally:
                    await response.aclose()
        except httpx.HTTPError as error:
            why = str(error) or type(error).__name__
            raise ToolFault("EXECUTION_ERROR", f"{_shown(url)} cannot be read: {why} — go on without it") from error


async def _page(url: httpx.URL, response: httpx.Response) -> Page | httpx.URL:
    status = response.status_code
    if status in _MOVED and "location" in response.headers:
        return _parsed(str(url.join(response.headers["location"][:LONGEST])))
    if status >= 400:
        code = (
            "NOT_FOUND" if status in (404, 410) else "PERMISSION_DENIED" if status in (401, 403) else "EXECUTION_ERROR"
        )
        problem = f"{_shown(url)} answered {status} {response.reason_phrase}"
        raise ToolFault(code, f"{problem} — go on without it")  # type: ignore[arg-type]
    data, cut = await read_body(response)
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    return Page(str(url), kind, response.charset_encoding or "", data, cut)


async def read_body(response: httpx.Response) -> tuple[bytes, bool]:
    """Read and decompress the content up to the limit; returns it and whether it was truncated."""
    packed = response.headers.get("content-encoding", "").strip().lower()
    if packed not in ("", "identity", "gzip", "x-gzip"):
        raise ToolFault(
            "BINARY_FILE", f"the page has the encoding {packed[:40]!r}, which is not supported — go on without it"
        )
    unpack = zlib.decompressobj(zlib.MAX_WBITS | 32) if packed not in ("", "identity") else None
    data, read = bytearray(), 0
    try:
        async for part in response.aiter_raw(64 * 1024):
            read += len(part)
            data += part if unpack is None else unpack.decompress(part, SIZE_LIMIT + 1 - len(data))
            if len(data) > SIZE_LIMIT or read > SIZE_LIMIT:
                return bytes(data[:SIZE_LIMIT]), True
    except zlib.error as error:
        raise ToolFault("EXECUTION_ERROR", f"the page is damaged: {error} — go on without it") from error
    return bytes(data), False


def _parsed(url: str) -> httpx.URL:
    import httpx

    try:
        parsed = httpx.URL(url.strip())
    except (httpx.InvalidURL, ValueError, UnicodeError) as error:
        raise ToolFault("INVALID_PARAM", f"{url[:200]!r} is not a URL: {error} — give an http or https URL") from error
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise ToolFault("INVALID_PARAM", f"{url[:200]!r} is not a web URL — give an http or https URL")
    if parsed.userinfo:
        raise ToolFault("INVALID_PARAM", f"the URL of {parsed.host} contains a user name — remove it")
    return parsed.copy_with(fragment=None)


def _host(url: httpx.URL) -> str:
    """Return the host as it is requested, without normalising names that look alike."""
    return url.raw_host.decode("ascii")


def _port(url: httpx.URL) -> int:
    return url.port or (443 if url.scheme == "https" else 80)


def _shown(url: httpx.URL) -> str:
    return str(url.copy_with(query=None))[:200]


def web_client(proxy: str | None, seconds: float) -> httpx.AsyncClient:
    """Return a client that ignores the environment except this proxy; raises ToolFault if the proxy is unsupported."""
    import httpx

    try:
        verify = certificates.trusted(by_environment=False)
        return httpx.AsyncClient(verify=verify, trust_env=False, proxy=proxy, timeout=seconds, max_redirects=0)
    except (ImportError, ValueError, httpx.InvalidURL) as error:  # the URL may contain a password, so it is not shown
        kind = (proxy or "").partition("://")[0][:20]
        problem = f"the web is reached through a proxy of type {kind!r}, which is not supported"
        raise ToolFault("EXECUTION_ERROR", f"{problem} — go on without it, and mention this") from error
