"""The URLs of journals: `sqlite:///path`, a bare path, or `postgresql://user@host/database`."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote, unquote


def url_of(path: Path) -> str:
    """Return the URL of a SQLite file: three slashes, then the absolute path."""
    return f"sqlite:///{quote(path.absolute().as_posix(), safe='/:+@,=~ ')}"


def path_of(url: str, base: Path) -> Path:
    """Return the file of a SQLite URL; two slashes before an absolute path are accepted, too."""
    path = unquote(url.removeprefix("sqlite:").removeprefix("//").removeprefix("/"))
    absolute = Path("/" + path.lstrip("/"))
    is_absolute = path.startswith("/") or (len(absolute.parts) > 2 and absolute.parent.is_dir())
    return absolute if is_absolute else base / path


def without_password(url: str) -> str:
    """Return a URL without a password, for results, records and messages."""
    scheme, separator, rest = url.partition("://")
    if not separator or scheme == "sqlite":
        return url
    login, at, host = rest.rpartition("@")  # the last @, because a password may contain an unencoded one
    rest = f"{login.partition(':')[0]}{at}{host}"
    return f"{scheme}{separator}" + re.sub(r"(?<=[?&])(?:ssl)?password=[^&]*&?", "", rest).rstrip("?&")


def normalized(url: str, base: Path) -> str:
    """Normalize a URL; a bare path is a SQLite file, and a relative path starts at `base`."""
    if "://" not in url:
        return url_of(base / Path(url).expanduser())
    return url_of(path_of(url, base)) if url.startswith("sqlite:") else url
