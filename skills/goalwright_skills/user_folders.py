"""The user's folders in which goalwright keeps its files."""

from __future__ import annotations

import os
import sys
from pathlib import Path

APP = "goalwright"


def cache() -> Path:
    """The folder for files that can be recreated."""
    return _folder("XDG_CACHE_HOME", "~/.cache", "user_cache_dir")


def data() -> Path:
    """The folder for files that must not be lost."""
    return _folder("XDG_DATA_HOME", "~/.local/share", "user_data_dir")


def _folder(variable: str, default: str, of_others: str) -> Path:
    """What platformdirs answers; on Linux without importing it, which would take as long as Python's own start."""
    if sys.platform != "linux" or "ANDROID_DATA" in os.environ:
        import platformdirs

        return Path(getattr(platformdirs, of_others)(APP))
    named = os.environ.get(variable, "")
    return (Path(named) if named.strip() else Path(default).expanduser()) / APP
