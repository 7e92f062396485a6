"""The page's own files: read once at the start, so that a request can name nothing else."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import Response

from weft.web.errors import HttpError

if TYPE_CHECKING:
    from starlette.requests import Request

_FOLDER = Path(__file__).parent / "static"
_INDEX = "index.html"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class _File:
    data: bytes
    kind: str
    tag: str


class Pages:
    """Serves the static files; every other address without a dot is a view of the page itself."""

    def __init__(self, folder: Path = _FOLDER) -> None:
        self._files = {
            path.relative_to(folder).as_posix(): _file(path)
            for path in sorted(folder.rglob("*"))
            if path.is_file() and path.suffix in _TYPES
        }

    async def answer(self, request: Request) -> Response:
        """Answer a request for a file or a view."""
        name = request.path_params.get("path", "")
        found = self._files.get(name)
        if found is None and "." not in name.rpartition("/")[2]:
            found = self._files.get(_INDEX)
        if found is None:
            raise HttpError(404, "NOT_FOUND", f"there is no page {name[:80]!r}", hint="start at /")
        headers = {"etag": found.tag, "cache-control": "no-cache"}
        if request.headers.get("if-none-match") == found.tag:
            return Response(status_code=304, headers=headers)
        return Response(found.data, headers={**headers, "content-type": found.kind})


def _file(path: Path) -> _File:
    data = path.read_bytes()
    return _File(data, _TYPES[path.suffix], f'"{hashlib.sha256(data).hexdigest()[:32]}"')
