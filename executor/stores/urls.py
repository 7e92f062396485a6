"""url_of and what belongs to it."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote, unquote


def url_of(path: Path) -> str:
    """The URL of a SQLite store in a file: three slashes, then the path."""
    return f"sqlite:///{quote(path.absolute().as_posix(), safe='/:+@,=~ ')}"


def normal(url: str, base: Path) -> str:
    """A URL as it is shown and opened: a bare path counts as a SQLite file, a relative one begins at `base`."""
    if "://" not in url:
        return url_of(base / Path(url).expanduser())
    return url_of(_path(url, base)) if url.startswith("sqlite:") else url


def _path(url: str, base: Path) -> Path:
    """The file that a SQLite URL names. Two slashes and an absolute path, as other URLs have it, are understood too."""
    rest = unquote(url.removeprefix("sqlite:").removeprefix("//").removeprefix("/"))
    absolute = Path("/" + rest.lstrip("/"))
    is_one = rest.startswith("/") or (len(absolute.parts) > 2 and absolute.parent.is_dir())
    return absolute if is_one else base / rest
