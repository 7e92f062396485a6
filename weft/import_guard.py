"""Makes sure that `executor`, `planner` and `skills` are weft's own packages and not another project's."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

NAMES = ("executor", "planner", "skills")


def check(home: Path | None = None) -> None:
    """Raise ImportError if another package would be imported in place of one of weft's."""
    home = home or Path(__file__).resolve().parent.parent
    for name in NAMES:
        spec = find_spec(name)
        origin = Path(spec.origin).resolve() if spec is not None and spec.origin else None
        if origin is not None and origin.is_relative_to(home / name):
            continue
        problem = f"{origin} would be imported instead" if origin else "it was not found"
        raise ImportError(
            f"weft needs its own package {name!r} ({home / name}), but {problem}. "
            f"Rename or move that file, start Python from another folder, or put {home} first on sys.path."
        )
