"""The URLs of journals: `sqlite:///path`, a bare path, or `postgresql://user@host/database`."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote, unquote


def url_of(path: Path) -> str:
    """The URL of a SQLite store in a file: three slashes, then the absolute path."""
    return f"sqlite:///{quote(path.absolute().as_posix(), safe='/:+@,=~ ')}"


def path_of(url: str, base: Path) -> Path:
    """The file that a SQLite URL names; two slashes before an absolute path, as in other URLs, work too."""
    rest = unquote(url.removeprefix("sqlite:").removeprefix("//").removeprefix("/"))
    absolute = Path("/" + rest.lstrip("/"))
    is_absolute = rest.startswith("/") or (len(absolute.parts) > 2 and absolute.parent.is_dir())
    return absolute if is_absolute else base / rest


def shown(url: str) -> str:
    """A URL as results, records and messages have it: without a password."""
    scheme, separator, rest = url.partition("://")
    if not separator or scheme == "sqlite":
        return url
    login, at, place = rest.rpartition("@")  # the last one: a password may hold what should have been encoded
    rest = f"{login.partition(':')[0]}{at}{place}"
    return f"{scheme}{separator}" + re.sub(r"(?<=[?&])(?:ssl)?password=[^&]*&?", "", rest).rstrip("?&")


def normal(url: str, base: Path) -> str:
    """A URL as it is shown and opened: a bare path names a SQLite file, a relative one starts at `base`."""
    if "://" not in url:
        return url_of(base / Path(url).expanduser())
    return url_of(path_of(url, base)) if url.startswith("sqlite:") else url
