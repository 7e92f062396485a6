"""The local models as `models list --json` prints them: the catalogue's, and other installed ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goalwright.models.local import catalogue

if TYPE_CHECKING:
    from goalwright.models.local.catalogue import ModelCatalogue
    from goalwright.models.local.store import Installed, ModelStore


def rows(store: ModelStore, models: ModelCatalogue | None = None) -> list[dict[str, Any]]:
    """Every model of the catalogue and every other installed one; the default catalogue ships with goalwright."""
    models = models or catalogue.read()
    installed = {model.record.name: model for model in store.installed()}
    listed = [
        {
            "name": entry.name,
            "title": entry.title,
            "licence": entry.licence,
            "bytes": entry.bytes,
            "context": entry.context,
            "sha256": entry.sha256,
            "default": entry.name == models.default,
            "installed": entry.name in installed,
            "note": entry.note,
        }
        for entry in models.entries
    ]
    names = {entry.name for entry in models.entries}
    return listed + [installed_row(model) for name, model in installed.items() if name not in names]


def installed_row(model: Installed) -> dict[str, Any]:
    """An installed model that is not in the catalogue."""
    record = model.record
    return {
        "name": record.name,
        "title": record.name,
        "licence": "",
        "bytes": record.bytes,
        "context": record.context,
        "sha256": record.sha256,
        "default": False,
        "installed": True,
        "note": f"from {record.origin}",
    }
