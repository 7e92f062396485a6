"""`goalwright models`: list, download and remove local models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import options
from goalwright.interfaces.cli.view import output

if TYPE_CHECKING:
    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright.models.local.store import ModelStore


@click.group()
def models() -> None:
    """List, download and remove local models.

    Local models run on this machine, with `--model local`. Downloads are verified by SHA-256.

    \b
    Examples:
      goalwright models list
      goalwright models pull
      goalwright models pull mine --from ~/models/mine.gguf    # then: goalwright run --model local/mine "…"
      goalwright models remove qwen2.5-coder-1.5b
    """


@models.command("list")
@options.printing
def list_models(mode: OutputMode) -> int:
    """List the available models, and whether they are installed.

    \b
    Examples:
      goalwright models list
      goalwright models list --json

    Exit status: 0 done, 2 wrong usage.
    """
    from goalwright.models.local import model_list
    from goalwright.models.local.downloads.progress import megabytes

    rows = model_list.rows(_store())
    if mode.as_json:
        output.print_json(rows)
        return 0
    for row in rows:
        state = "installed" if row["installed"] else ""
        default = " (default)" if row["default"] else ""
        size = f"{megabytes(int(str(row['bytes']))):>9}"
        output.print_text(f"{state:<9}  {row['name']:<22} {size}  {row['licence']:<11} {row['note']}{default}")
    return 0


@models.command("pull")
@click.argument("name", required=False)
@click.option(
    "--from", "origin", metavar="FILE|URL", help="Install this GGUF file instead of a model from the catalogue."
)
@options.printing
def pull_model(name: str | None, origin: str | None, mode: OutputMode) -> int:
    """Download a model (default: the model of `--model local`), or resume its download.

    \b
    Examples:
      goalwright models pull
      goalwright models pull qwen2.5-coder-1.5b
      goalwright models pull mine --from ~/models/mine.gguf

    Exit status: 0 done, 2 wrong usage, 4 the model could not be downloaded, 130 interrupted.
    """
    from goalwright.interfaces.cli.model_download import reporting
    from goalwright.models.local import model_list
    from goalwright.models.local.backends.install import install_faster
    from goalwright.models.local.downloads.pull import pull

    with reporting(quiet=mode.quiet) as report:
        model = pull(name, store=_store(), origin=origin, report=report)
        install_faster(_store().root, report)
    output.show(mode, model_list.installed_row(model) | {"path": str(model.path)}, str(model.path))
    return 0


@models.command("remove")
@click.argument("name")
@options.printing
def remove_model(name: str, mode: OutputMode) -> int:
    """Remove a model and its partial downloads, and with the last model the program that runs them.

    \b
    Examples:
      goalwright models remove qwen2.5-coder-1.5b

    Exit status: 0 done, 2 no such model.
    """
    from goalwright.models.local.downloads.progress import megabytes

    freed = _store().remove(name)
    output.show(mode, {"name": name, "freed": freed}, f"Removed {name}: {megabytes(freed)} freed")
    return 0


@models.command("path")
@click.argument("name", required=False)
@options.printing
def model_path(name: str | None, mode: OutputMode) -> int:
    """Print the path of a model, or of the folder of all models.

    \b
    Examples:
      goalwright models path
      goalwright models path qwen2.5-coder-0.5b

    Exit status: 0 done, 4 the model is not installed.
    """
    from goalwright.models.local import model

    path = model.installed(f"local/{name}").path if name else _store().root
    output.show(mode, {"path": str(path)}, str(path))
    return 0


def _store() -> ModelStore:
    from goalwright.models.local.store import ModelStore, models_dir

    return ModelStore(models_dir())
