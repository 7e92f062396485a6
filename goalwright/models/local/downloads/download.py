"""Downloads a file into a partial file, resuming an earlier download."""

from __future__ import annotations

import json
import socket
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies

import httpx

from goalwright.models.local.downloads.progress import Progress, megabytes
from goalwright.models.local.errors import DownloadInterrupted, SourceGone, SourceUnreachable, WrongHash
from goalwright_skills import certificates

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.models.local.downloads.progress import Report

CHUNK = 1 << 20
ATTEMPTS = 4
GONE = frozenset({httpx.codes.NOT_FOUND, httpx.codes.GONE})


@dataclass(frozen=True, slots=True)
class DownloadTimeouts:
    """Timeouts for a source in seconds; they are short, since there may be another source."""

    connect: float = 5.0
    read: float = 30.0


def fetch(url: str, file: Path, size: int, report: Report, timeouts: DownloadTimeouts = DownloadTimeouts()) -> None:  # noqa: B008
    """Download the URL into `file`, which may already hold its beginning; `size` is 0 if unknown."""
    _resolve(url, timeouts.connect)
    timeout = httpx.Timeout(timeouts.read, connect=timeouts.connect)
    with httpx.Client(verify=certificates.trusted(), timeout=timeout, follow_redirects=True) as client:
        for attempts_left in reversed(range(ATTEMPTS)):
            before = _length(file)
            try:
                _stream(client, url, file, size, report)
            except httpx.TransportError as error:
                if not attempts_left or not _progressed(file, before, error):
                    raise _interrupted(url, file, error) from error
            else:
                return


def _stream(client: httpx.Client, url: str, file: Path, size: int, report: Report) -> None:
    start = _length(file)
    with client.stream("GET", url, headers=_headers(file, start)) as response:
        if response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE and start == size:
            return
        _check_status(url, response)
        resumed = response.status_code == httpx.codes.PARTIAL_CONTENT
        start = start if resumed else 0
        total = start + int(response.headers.get("Content-Length", 0))
        if size and total not in (start, size):
            raise WrongHash(f"{url} has {megabytes(total)}, the model {megabytes(size)}: it is a different file")
        _tag(file).write_text(json.dumps({"etag": response.headers.get("ETag", "")}), encoding="utf-8")
        with file.open("r+b" if resumed else "wb") as sink:
            sink.seek(start)
            sink.truncate()
            for chunk in response.iter_raw():
                sink.write(chunk)
                report(Progress("download", sink.tell(), size or total))
                if size and sink.tell() > size:
                    raise WrongHash(f"{url} sent more than the model's {megabytes(size)}: it is a different file")


def _headers(file: Path, start: int) -> dict[str, str]:
    """Request only the rest, and only if the file has not changed since."""
    plain = {"Accept-Encoding": "identity"}
    if not start:
        return plain
    try:
        etag = str(json.loads(_tag(file).read_text(encoding="utf-8"))["etag"])
    except (OSError, ValueError, KeyError):
        etag = ""
    # A weak tag is not allowed in a range request; the final hash check will catch a change.
    condition = {"If-Range": etag} if etag and not etag.startswith("W/") else {}
    return plain | {"Range": f"bytes={start}-"} | condition


def _check_status(url: str, response: httpx.Response) -> None:
    if response.is_success:
        return
    status = f"{response.status_code} {response.reason_phrase}".strip()
    if response.status_code in GONE:
        raise SourceGone(f"{url} is gone ({status})")
    raise SourceUnreachable(f"{url} answered {status}")


def _progressed(file: Path, before: int, error: httpx.TransportError) -> bool:
    return not isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout)) and _length(file) > before


def _interrupted(url: str, file: Path, error: httpx.TransportError) -> Exception:
    reason = str(error) or type(error).__name__
    if isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout)):
        return SourceUnreachable(f"{url} cannot be reached ({reason})")
    return DownloadInterrupted(
        f"the download of {url} was interrupted after {megabytes(_length(file))} ({reason})",
        hint="Run the same command again to resume it.",
    )


def _resolve(url: str, seconds: float) -> None:
    """Fail if the host name cannot be resolved in time, which the connect timeout does not cover."""
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
