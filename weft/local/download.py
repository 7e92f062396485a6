"""Fetch one file from the web into a partial file, going on where an earlier try broke off."""

from __future__ import annotations

import json
import socket
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies

import httpx

from weft.local.errors import DownloadInterrupted, SourceGone, SourceUnreachable, WrongHash
from weft.local.progress import Progress, megabytes

if TYPE_CHECKING:
    from pathlib import Path

    from weft.local.progress import Report

CHUNK = 1 << 20
TRIES = 4
GONE = frozenset({httpx.codes.NOT_FOUND, httpx.codes.GONE})


@dataclass(frozen=True, slots=True)
class DownloadRetries:
    """How long to wait for a source, in seconds; short, because another one may be at hand."""

    connect: float = 5.0
    read: float = 30.0


def fetch(url: str, file: Path, size: int, report: Report, patience: DownloadRetries = DownloadRetries()) -> None:  # noqa: B008
    """Fetch the URL into `file`, which may hold its beginning; `size` 0 means that it is not known."""
    _resolve(url, patience.connect)
    timeout = httpx.Timeout(patience.read, connect=patience.connect)
    with httpx.Client(timeout=timeout, follow_redirects=True) as client:
        for left in reversed(range(TRIES)):
            before = _length(file)
            try:
                _stream(client, url, file, size, report)
            except httpx.TransportError as error:
                if not left or not _came_further(file, before, error):
                    raise _broken(url, file, error) from error
            else:
                return


def _stream(client: httpx.Client, url: str, file: Path, size: int, report: Report) -> None:
    start = _length(file)
    with client.stream("GET", url, headers=_headers(file, start)) as response:
        if response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE and start == size:
            return
        _refuse(url, response)
        resumed = response.status_code == httpx.codes.PARTIAL_CONTENT
        start = start if resumed else 0
        total = start + int(response.headers.get("Content-Length", 0))
        if size and total not in (start, size):
            raise WrongHash(f"{url} holds {megabytes(total)}, the model has {megabytes(size)}: it is another file")
        _tag(file).write_text(json.dumps({"etag": response.headers.get("ETag", "")}), encoding="utf-8")
        with file.open("r+b" if resumed else "wb") as sink:
            sink.seek(start)
            sink.truncate()
            for chunk in response.iter_raw():
                sink.write(chunk)
                report(Progress("download", sink.tell(), size or total))
                if size and sink.tell() > size:
                    raise WrongHash(f"{url} sent more than the model's {megabytes(size)}: it is another file")


def _headers(file: Path, start: int) -> dict[str, str]:
    """Ask for the rest only, and only if the file is still the one that was begun."""
    plain = {"Accept-Encoding": "identity"}
    if not start:
        return plain
    try:
        etag = str(json.loads(_tag(file).read_text(encoding="utf-8"))["etag"])
    except (OSError, ValueError, KeyError):
        etag = ""
    # A weak tag may not be used for a range; the hash will tell in the end.
    condition = {"If-Range": etag} if etag and not etag.startswith("W/") else {}
    return plain | {"Range": f"bytes={start}-"} | condition


def _refuse(url: str, response: httpx.Response) -> None:
    if response.is_success:
        return
    status = f"{response.status_code} {response.reason_phrase}".strip()
    if response.status_code in GONE:
        raise SourceGone(f"{url} is gone ({status})")
    raise SourceUnreachable(f"{url} answers {status}")


def _came_further(file: Path, before: int, error: httpx.TransportError) -> bool:
    return not isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout)) and _length(file) > before


def _broken(url: str, file: Path, error: httpx.TransportError) -> Exception:
    what = str(error) or type(error).__name__
    if isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout)):
        return SourceUnreachable(f"{url} cannot be reached ({what})")
    return DownloadInterrupted(
        f"the download of {url} broke off after {megabytes(_length(file))} ({what})",
        hint="Run the same command again: it goes on from there.",
    )


def _resolve(url: str, seconds: float) -> None:
    """Give up on a name that the system cannot resolve in time, which no connect time-out covers."""
    parts = urlsplit(url)
    if not parts.hostname or parts.scheme in getproxies():
        return
    failed: list[str] = ["no answer from the name server"]

    def look_up() -> None:
        try:
            socket.getaddrinfo(parts.hostname, parts.port or parts.scheme)
        except OSError as error:
            failed[:] = [str(error.strerror or error)]
        else:
            failed.clear()

    thread = threading.Thread(target=look_up, daemon=True)
    thread.start()
    thread.join(seconds)
    if failed:
        raise SourceUnreachable(f"{url} cannot be reached ({failed[0]})")


def _length(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def _tag(file: Path) -> Path:
    return file.with_name(file.name + ".etag")
