"""weft's packages have plain names; this makes sure that they are its own and not another project's."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

NAMES = ("executor", "planner", "skills")


def check(home: Path | None = None) -> None:
    """Raise ImportError where another file stands in the way of one of weft's packages."""
    home = home or Path(__file__).resolve().parent.parent
    for name in NAMES:
        spec = find_spec(name)
        origin = Path(spec.origin).resolve() if spec is not None and spec.origin else None
        if origin is not None and origin.is_relative_to(home / name):
            continue
        found = f"{origin} is found in its place" if origin else "it is not found"
        raise ImportError(
            f"weft needs its own package {name!r} ({home / name}), but {found}. "
            f"Rename or move that file, start Python from another folder, or put {home} first on the path."
        )
