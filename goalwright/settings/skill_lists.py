"""The lists in [skills] of skills that are pinned, required, manual and off, joined over all files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goalwright.settings.convert import convert
from goalwright_skills.text.formatting import guess

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

PREFIX = "skills_"
REQUIRE = f"{PREFIX}require"
LISTS = tuple(f"{PREFIX}{name}" for name in ("pin", "require", "manual", "off"))
_RESTRICTING = ("skills_manual", "skills_off")
_DEMANDING = ("skills_pin", REQUIRE)
_MAX_NAMES = 1_000


def settings_in(
    table: Mapping[str, Any], known: Collection[str], faults: list[str], path: Path
) -> Iterator[tuple[str, Any]]:
    """The settings in a table [skills]; an unknown key is added to the faults."""
    names = [setting.removeprefix(PREFIX) for setting in LISTS]
    for key, value in table.items():
        if f"{PREFIX}{key}" in known:
            yield f"{PREFIX}{key}", value
        else:
            near = guess(key.removeprefix(PREFIX), names)
            hint = f"did you mean {near!r}?" if near else f"its settings are: {', '.join(names)}"
            faults.append(f"{path}: unknown setting {key!r} in [skills]; {hint}")


def duplicates(table: Mapping[str, Any], document: Mapping[str, Any], path: Path) -> list[str]:
    """A fault for each setting that a file has both in its table [skills] and outside of it."""
    names = [f"{PREFIX}{key}" for key in table if f"{PREFIX}{key}" in document]
    return [f"{path}: {name!r} and {name_in_file(name)} are one setting; keep the one in [skills]" for name in names]


def name_in_file(setting: str) -> str:
    """The name of a setting as in a file, such as `[skills] require`; in quotes outside of this table."""
    return f"[skills] {setting.removeprefix(PREFIX)}" if setting in LISTS else repr(setting)


def check(names: tuple[str, ...]) -> None:
    """Raise ValueError if a list is too long."""
    if len(names) > _MAX_NAMES:
        raise ValueError(f"has {len(names):,} names, more than {_MAX_NAMES:,}")


def join(table: dict[str, Any], path: Path, before: Mapping[str, Any], *, trusted: bool) -> Iterator[str]:
    """Add the names of the previous file to a file's lists, and yield a warning for each ignored restriction.

    An untrusted workspace cannot restrict skills that the user pins or requires.
    """
    demanded = {name for setting in _DEMANDING for name in before.get(setting, ())}
    for setting in LISTS:
        if setting not in table:
            continue
        try:
            names = convert(table[setting], tuple[str, ...])
        except ValueError:
            continue  # the fault is found when the table is merged
        if not trusted and setting in _RESTRICTING and (refused := [name for name in names if name in demanded]):
            names = tuple(name for name in names if name not in demanded)
            reason = "your own settings pin or require it"
            yield f"{path}: {name_in_file(setting)} is ignored for {', '.join(refused)}: {reason}"
        table[setting] = tuple(dict.fromkeys((*before.get(setting, ()), *names)))
