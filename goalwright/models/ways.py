"""The ways to get a model, for those who have none."""

from __future__ import annotations

from goalwright.settings.default_model import choices, local_is_installed


def ways() -> str:
    """Every way to get a model, with the size of the local one, as a hint."""
    return choices(local_download(), local_installed=local_is_installed())


def local_download() -> str:
    """What is downloaded for the local model: its name, size and licence."""
    from goalwright.models.local import catalogue  # here, as below: most runs have a model
    from goalwright.models.local.downloads.progress import megabytes

    entry = catalogue.read().find()
    return f"{entry.title} ({megabytes(entry.bytes)}, {entry.licence})"
