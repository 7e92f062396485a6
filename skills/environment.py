"""The environment of a tool's process: what a program needs, and of the rest only what its manifest names."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

PASSED = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ")
PATH = "/usr/local/bin:/usr/bin:/bin"


def environment(environ: Mapping[str, str], names: Iterable[str], scratch: Path) -> dict[str, str]:
    """The variables that a tool sees; the scratch folder is its home and its place for temporary files."""
    passed = {name: environ[name] for name in (*PASSED, *names) if name in environ}
    own = dict.fromkeys(("HOME", "TMPDIR", "XDG_CACHE_HOME", "WEFT_SCRATCH"), str(scratch))
    return {"PATH": PATH, "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"} | passed | own
