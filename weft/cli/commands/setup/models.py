"""`weft models`: the embedded model's files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from weft.cli import options
from weft.cli.view import output

if TYPE_CHECKING:
    from weft.local.store import Installed, ModelStore


@click.group()
def models() -> None:
    """Local models: fetched once, checked by their hash, run on this machine with `--model local`.

    \b
    Examples:
      weft models list
      weft models pull
      weft models pull mine --from ~/models/mine.gguf    then: weft run --model local/mine "…"
      weft models remove qwen2.5-coder-1.5b
    """


@models.command("list")
@options.common
def list_models(*, as_json: bool, **_: Any) -> int:
    """List the models that can be fetched, and those that are here.

    \b
    Examples:
      weft models list
      weft models list --json
    """
    from weft.local import catalogue
    from weft.local.progress import megabytes

    store, known = _store(), catalogue.read()
    here = {one.record.name: one for one in store.installed()}
    rows = [
        {
            "name": entry.name,
            "title": entry.title,
            "licence": entry.licence,
            "bytes": entry.bytes,
            "context": entry.context,
            "sha256": entry.sha256,
            "default": entry.name == known.default,
            "installed": entry.name in here,
            "note": entry.note,
        }
        for entry in known.entries
    ]
    rows += [_own(one) for name, one in here.items() if name not in {entry.name for entry in known.entries}]
    if as_json:
        output.print_json(rows)
        return 0
    for row in rows:
        state = "here" if row["installed"] else "    "
        default = " (default)" if row["default"] else ""
        size = f"{megabytes(int(str(row['bytes']))):>9}"
        output.print_text(f"{state}  {row['name']:<22} {size}  {row['licence']:<11} {row['note']}{default}")
    return 0


@models.command("pull")
@click.argument("name", required=False)
@click.option("--from", "origin", metavar="FILE|URL", help="Take this GGUF file instead of the catalogue's sources.")
@options.common
def pull_model(name: str | None, origin: str | None, *, as_json: bool, quiet: bool, **_: Any) -> int:
    """Fetch a model (default: the one that `--model local` uses). What broke off is gone on with.

    \b
    Examples:
      weft models pull
      weft models pull qwen2.5-coder-1.5b
      weft models pull mine --from ~/models/mine.gguf
    """
    from weft.cli.model_download import reporting
    from weft.local.pull import pull

    with reporting(quiet=quiet) as report:
        found = pull(name, store=_store(), origin=origin, report=report)
    if as_json:
        output.print_json(_own(found) | {"path": str(found.path)})
    else:
        output.print_text(str(found.path))
    return 0


@models.command("remove")
@click.argument("name")
@options.common
def remove_model(name: str, *, as_json: bool, **_: Any) -> int:
    """Remove a model and what an unfinished pull of it left.

    \b
    Examples:
      weft models remove qwen2.5-coder-1.5b
    """
    from weft.local.progress import megabytes

    freed = _store().remove(name)
    if as_json:
        output.print_json({"name": name, "freed": freed})
    else:
        output.print_text(f"Removed {name}: {megabytes(freed)} freed")
    return 0


@models.command("path")
@click.argument("name", required=False)
@options.common
def model_path(name: str | None, *, as_json: bool, **_: Any) -> int:
    """Print where a model lies, or without NAME the folder of all.

    \b
    Examples:
      weft models path
      weft models path qwen2.5-coder-0.5b
    """
    from weft.local import model

    path = model.installed(f"local/{name}").path if name else _store().root
    if as_json:
        output.print_json({"path": str(path)})
    else:
        output.print_text(str(path))
    return 0


def _store() -> ModelStore:
    from weft.local.store import ModelStore, models_dir

    return ModelStore(models_dir())


def _own(one: Installed) -> dict[str, Any]:
    record = one.record
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
