"""The user's folders in which weft keeps its files."""

from __future__ import annotations

import os
import sys
from pathlib import Path

APP = "weft"


def cache() -> Path:
    """The folder for files that can be recreated."""
    found = _xdg("XDG_CACHE_HOME", "~/.cache")
    if found is None:
        import platformdirs

        found = Path(platformdirs.user_cache_dir(APP))
    return found


def data() -> Path:
    """The folder for files that must not be lost."""
    found = _xdg("XDG_DATA_HOME", "~/.local/share")
    if found is None:
        import platformdirs

        found = Path(platformdirs.user_data_dir(APP))
    return found


def _xdg(variable: str, default: str) -> Path | None:
    """What platformdirs answers on Linux; importing it would take as long as Python's own start."""
    if sys.platform != "linux" or "ANDROID_DATA" in os.environ:
        return None
    named = os.environ.get(variable, "")
    return (Path(named) if named.strip() else Path(default).expanduser()) / APP
