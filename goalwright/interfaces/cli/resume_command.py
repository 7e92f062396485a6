"""The commands that are printed for the user to continue a run or a batch."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli.view import output
from goalwright_executor.stores.urls import without_password
from goalwright_skills.text.formatting import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from goalwright.interfaces.cli.view.result_target import ResultTarget
    from goalwright.settings.settings import Settings
    from goalwright_executor.history.result import Result

_JOURNAL = re.compile(r"(?:[\w-]+=)?postgres(?:ql)?://\S+")


def resuming(
    run_id: str, workspace: Path, journal: str | None, settings: Settings | None, target: ResultTarget | None
) -> list[str]:
    """Return the command that resumes a run with the same permissions and output file, as arguments."""
    to_file = ["-o", str(target)] if target is not None else []
    return [*resume_command(run_id, workspace, journal), *_permissions(settings), *to_file]


def raised_limit(result: Result, settings: Settings | None) -> tuple[str, ...]:
    """Return the flag that lets a run continue: twice its limit, its usage, or what the next call needs."""
    limit: float = getattr(settings, result.limit or "", None) or 0.0
    match result.limit:
        case "max_tokens":
            return "--max-tokens", str(2 * int(max(result.usage.tokens + result.needed, limit, 500)))
        case "max_cost":
            return "--max-cost", plain(2 * max((result.cost_usd or 0.0) + result.needed, limit, 0.005), 2)
        case "timeout":
            return "--timeout", f"{2 * (limit or result.seconds):g}"
    return ()


def _permissions(settings: Settings | None) -> list[str]:
    """Return the flags for the permissions of a run, which are not recorded."""
    if settings is None:
        return []
    flags = ["--tools", ",".join(settings.tools)] if settings.tools else []
    flags += ["--allow-unknown-cost"] if settings.allow_unknown_cost else []
    flags += [part for host in settings.allow_web for part in ("--allow-web", host)]
    hosts = ",".join(settings.allow_network_hosts)
    return [*flags, "-c", f"allow_network_hosts={hosts}"] if hosts else flags


def resume_command(run_id: str, workspace: Path, journal: str | None) -> list[str]:
    """Return the command that resumes a run, as arguments; the journal's URL has no password."""
    from goalwright.runs.stored import records
    from goalwright.settings.paths import Paths
    from goalwright.settings.settings import Settings

    parts = [output.program(), "resume", run_id]
    if workspace.resolve() != Path.cwd():
        parts += ["--workspace", str(workspace)]
    if journal and journal != records.url(Paths.of(workspace, os.environ), Settings()):
        parts += ["--journal", without_password(journal)]
    return parts


def given_arguments(default: Iterable[str] = ()) -> list[str]:
    """Return the arguments of the current command; journal URLs have no password."""
    arguments: Iterable[str] = click.get_current_context().obj or default
    return [without_password(argument) if _JOURNAL.fullmatch(argument) else argument for argument in arguments]


def with_values(arguments: Sequence[str], values: Mapping[str, str]) -> list[str]:
    """Return the arguments with new values for some options."""
    changed: list[str] = []
    remaining = iter(arguments)
    for argument in remaining:
        name, equals, _ = argument.partition("=")
        if name not in values:
            changed.append(argument)
        elif equals:
            changed.append(f"{name}={values[name]}")
        else:
            next(remaining, None)
            changed += (name, values[name])
    return changed
