"""The flags that override settings, and the settings that result."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from goalwright.interfaces.cli.view import output
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from goalwright.settings.paths import Paths
    from goalwright.settings.resolve import Resolved
    from goalwright.settings.settings import Settings


@dataclass(frozen=True, slots=True)
class SettingFlags:
    """The settings that have a flag, None or empty if not given, and the `changes` of -c."""

    journal: str | None = None
    model: str | None = None
    fallback: tuple[str, ...] = ()
    max_cost: float | None = None
    max_tokens: int | None = None
    allow_unknown_cost: bool | None = None
    timeout: float | None = None
    detector: str | None = None
    strict_skills: bool | None = None
    workspace_writes: str | None = None
    tools: str | None = None
    allow_web: tuple[str, ...] = ()
    max_replans: int | None = None
    cache: float | None = None
    stream_plan: bool | None = None
    skills_dir: str | None = None
    seed: str | None = None
    skills_without: tuple[str, ...] = ()
    changes: tuple[tuple[str, str], ...] = ()

    def given(self) -> dict[str, Any]:
        """Return the settings that were given."""
        values = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "changes"}
        return {**dict(self.changes), **{name: value for name, value in values.items() if value not in (None, ())}}


def paths(workspace: Path) -> Paths:
    """Return the paths of a workspace."""
    from goalwright.settings.paths import Paths

    return Paths.of(workspace, os.environ)


def settings(where: Paths, flags: SettingFlags, *, quiet: bool = False) -> Resolved:
    """Resolve the settings; prints a warning for each ignored value."""
    from goalwright.settings.resolve import resolve
    from goalwright.settings.settings import InvalidSettings
    from goalwright.settings.untrusted import is_trusted

    try:
        resolved = resolve(flags.given(), os.environ, where.workspace, where.user_config, trusted=is_trusted(where))
    except InvalidSettings as error:
        faults = "; ".join(f"{_flag_of(fault.setting, flags)} {fault.reason}" for fault in error.faults)
        raise InputError(faults, hint="`--help` lists the options, docs/configuration.md the settings") from error
    for warning in resolved.warnings:
        if not quiet:
            output.say_warning(
                warning + ("; `goalwright run --trust` trusts it" if warning in resolved.untrusted else "")
            )
    return resolved


def journal_settings(workspace: Path, flags: SettingFlags) -> tuple[Paths, Settings]:
    """Return the paths and settings for a command that only uses the journal."""
    where = paths(workspace)
    return where, settings(where, flags, quiet=True).settings


def announce_journal(where: Paths, resolved: Resolved, *, quiet: bool) -> None:
    """Report that the named journal is new, because its name may have a typo."""
    from goalwright.runs.stored import records

    if resolved.settings.journal and not quiet:
        url = records.url(where, resolved.settings)
        if url.startswith("sqlite:///") and not Path(unquote(url.removeprefix("sqlite:///"))).exists():
            output.say(f"Creating a new journal: {url}")


def _flag_of(setting: str, flags: SettingFlags) -> str:
    """Return the flag that set a setting: -c, or its own flag."""
    if setting in dict(flags.changes):
        return f"-c {setting}"
    names = {"skills_without": "without", "seed": "seed-dir", "workspace_writes": "write"}
    return f"--{names.get(setting, setting.replace('_', '-'))}"
