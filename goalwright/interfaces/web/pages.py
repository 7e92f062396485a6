"""The page's own files: read once at the start, so that a request can name nothing else.

A view is one script and two style sheets, joined from the modules, under names that hold their hash: a browser fetches
three files instead of a hundred, and keeps them. The frame needs the first sheet alone: on a slow line it is seen while
the rest is on its way. What neither a run nor the list of runs needs is a script of its own, which the first one
fetches. A small script before them asks for what the view shows.
`/index.html` is the same page from its modules, for those who work on it.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import Response

from goalwright.interfaces.web.errors import HttpError
from goalwright.interfaces.web.replies import accepts_gzip, pack
from goalwright.traces import page_script

if TYPE_CHECKING:
    from starlette.requests import Request

_FOLDER = Path(__file__).parent / "static"
_INDEX = "index.html"
# Each with how a browser loads it: one that is deferred would otherwise wait until everything else is there.
_ENTRIES = {"first": "", "app": 'defer fetchpriority="high" '}
# What the script of the page fetches when it is needed.
_LATER = "other_views"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
_STYLE = re.compile(r'<link rel="stylesheet" href="/([^"]+)">\n')
_SCRIPT = re.compile(r'<script type="module" src="/[^"]+"></script>\n')
_NEW = "no-cache"
_KEPT = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class _File:
    data: bytes
    kind: str
    tag: str
    cache: str = _NEW


class Pages:
    """Serves the static files; every other address without a dot is a view of the page itself."""

    def __init__(self, folder: Path = _FOLDER) -> None:
        self._files = {
            path.relative_to(folder).as_posix(): _file(path.read_bytes(), path.suffix)
            for path in sorted(folder.rglob("*"))
            if path.is_file() and path.suffix in _TYPES
        }
        self._view = self._join(self._files[_INDEX].data.decode())

    def _join(self, index: str) -> _File:
        """The page with its modules in one script and its styles in one sheet."""
        frame, *rest = _STYLE.findall(index)
        links = self._sheet("frame", [frame])
        later = self._keep(_LATER, page_script.joined(f"{_LATER}.js", "app.js").encode(), ".js")
        for entry, how in _ENTRIES.items():
            script = page_script.joined(f"{entry}.js").replace(f"./{_LATER}.js", f"/{later}").encode()
            links += f'<script {how}src="/{self._keep(entry, script, ".js")}"></script>\n'
        sheets = iter([links, self._sheet("app", rest)])
        return _file(_STYLE.sub(lambda _: next(sheets, ""), _SCRIPT.sub("", index)).encode(), ".html")

    def _sheet(self, name: str, styles: list[str]) -> str:
        data = b"".join(self._files[style].data for style in styles)
        return f'<link rel="stylesheet" href="/{self._keep(name, data, ".css")}">\n'

    def _keep(self, name: str, data: bytes, suffix: str) -> str:
        named = f"{name}-{hashlib.sha256(data).hexdigest()[:16]}{suffix}"
        self._files[named] = _file(data, suffix, _KEPT)
        return named

    async def answer(self, request: Request) -> Response:
        """Answer a request for a file or a view."""
        name = request.path_params.get("path", "")
        found = self._files.get(name)
        if found is None and "." not in name.rpartition("/")[2]:
            found = self._view
        if found is None:
            raise HttpError(404, "NOT_FOUND", f"there is no page {name[:80]!r}", hint="start at /")
        headers = {"etag": found.tag, "cache-control": found.cache, "vary": "accept-encoding"}
        if request.headers.get("if-none-match") == found.tag:
            return Response(status_code=304, headers=headers)
        headers["content-type"] = found.kind
        if accepts_gzip(request):
            return Response(_packed(found.data), headers={**headers, "content-encoding": "gzip"})
        return Response(found.data, headers=headers)


@cache
def _packed(data: bytes) -> bytes:
    """A file as it is sent; those that nobody asks for are never compressed."""
    return pack(data, level=9)


def _file(data: bytes, suffix: str, cache: str = _NEW) -> _File:
    return _File(data, _TYPES[suffix], f'"{hashlib.sha256(data).hexdigest()[:32]}"', cache)
