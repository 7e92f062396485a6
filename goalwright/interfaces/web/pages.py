"""The static files of the page, read once at startup, so that a request cannot reach any other file.

The modules are bundled under names that contain their hash, so that browsers cache them: `frame.css`, enough for the
first paint; `app.css`; `first.js`, which requests the view's data early; `app.js`, for a run and the list of runs; and
`other_views.js`, which `app.js` loads when needed. `/index.html` is the same page from its modules, for development.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import Response

from goalwright.interfaces.web import page_script
from goalwright.interfaces.web.errors import HttpError
from goalwright.interfaces.web.replies import accepts_gzip, pack

if TYPE_CHECKING:
    from starlette.requests import Request

_FOLDER = Path(__file__).parent / "static"
_INDEX = "index.html"
# The entry scripts with their attributes; a deferred script would otherwise load last.
_ENTRIES = {"first": "", "app": 'defer fetchpriority="high" '}
# The script that `app.js` loads when needed.
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
    """Serves the static files; every other address without a dot is a view of the page."""

    def __init__(self, folder: Path = _FOLDER) -> None:
        self._files = {
            path.relative_to(folder).as_posix(): _file(path.read_bytes(), path.suffix)
            for path in sorted(folder.rglob("*"))
            if path.is_file() and path.suffix in _TYPES
        }
        self._view = self._join(self._files[_INDEX].data.decode())

    def _join(self, index: str) -> _File:
        """Return the page with its modules and styles bundled."""
        frame, *others = _STYLE.findall(index)
        links = self._sheet("frame", [frame])
        later = self._keep(_LATER, page_script.joined(f"{_LATER}.js", "app.js").encode(), ".js")
        for entry, attributes in _ENTRIES.items():
            script = page_script.joined(f"{entry}.js").replace(f"./{_LATER}.js", f"/{later}").encode()
            links += f'<script {attributes}src="/{self._keep(entry, script, ".js")}"></script>\n'
        sheets = iter([links, self._sheet("app", others)])
        return _file(_STYLE.sub(lambda _: next(sheets, ""), _SCRIPT.sub("", index)).encode(), ".html")

    def _sheet(self, name: str, styles: list[str]) -> str:
        data = b"".join(self._files[style].data for style in styles)
        return f'<link rel="stylesheet" href="/{self._keep(name, data, ".css")}">\n'

    def _keep(self, name: str, data: bytes, suffix: str) -> str:
        hashed_name = f"{name}-{hashlib.sha256(data).hexdigest()[:16]}{suffix}"
        self._files[hashed_name] = _file(data, suffix, _KEPT)
        return hashed_name

    async def answer(self, request: Request) -> Response:
        """Answer a request for a file or a view."""
        name = request.path_params.get("path", "")
        file = self._files.get(name)
        if file is None and "." not in name.rpartition("/")[2]:
            file = self._view
        if file is None:
            raise HttpError(404, "NOT_FOUND", f"there is no page {name[:80]!r}", hint="start at /")
        headers = {"etag": file.tag, "cache-control": file.cache, "vary": "accept-encoding"}
        if request.headers.get("if-none-match") == file.tag:
            return Response(status_code=304, headers=headers)
        headers["content-type"] = file.kind
        if accepts_gzip(request):
            return Response(_packed(file.data), headers={**headers, "content-encoding": "gzip"})
        return Response(file.data, headers=headers)


@cache
def _packed(data: bytes) -> bytes:
    """Return a file compressed; cached."""
    return pack(data, level=9)


def _file(data: bytes, suffix: str, cache: str = _NEW) -> _File:
    return _File(data, _TYPES[suffix], f'"{hashlib.sha256(data).hexdigest()[:32]}"', cache)
