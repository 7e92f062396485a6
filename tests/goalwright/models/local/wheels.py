"""Builds wheels with parts of a file, as a package index would serve them."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def build(folder: Path, project: str, version: str, members: Mapping[str, bytes]) -> Path:
    """Build a wheel of a project with these files in its package; it cannot be imported."""
    package = project.replace("-", "_")
    info = f"{package}-{version}.dist-info"
    wheel = folder / f"{package}-{version}-py3-none-any.whl"
    metadata = f"Metadata-Version: 2.1\nName: {project}\nVersion: {version}\n"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{package}/__init__.py", "raise RuntimeError('imported')\n")
        for name, data in members.items():
            archive.writestr(f"{package}/{name}", data)
        archive.writestr(f"{info}/METADATA", metadata)
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return wheel
