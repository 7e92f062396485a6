"""The lists of [skills]: which skills are pinned, required, manual and off, by every file that says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.settings.convert import convert

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

PREFIX = "skills_"
REQUIRE = f"{PREFIX}require"
LISTS = tuple(f"{PREFIX}{name}" for name in ("pin", "require", "manual", "off"))
_TAKING_AWAY = ("skills_manual", "skills_off")
_KEPT = ("skills_pin", REQUIRE)
_MOST = 1_000


def settings_in(table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The settings in a table [skills]; an unknown key is an unknown setting."""
    for key, value in table.items():
        yield f"{PREFIX}{key}", value


def check(names: tuple[str, ...]) -> None:
    """Raise ValueError if a list is absurdly long."""
    if len(names) > _MOST:
        raise ValueError(f"has {len(names):,} names, more than {_MOST:,}")


def join(table: dict[str, Any], path: Path, before: Mapping[str, Any], *, trusted: bool) -> Iterator[str]:
    """Add the names of the file before it to a file's lists; a workspace that is not trusted takes none away."""
    kept = {name for setting in _KEPT for name in before.get(setting, ())}
    for setting in LISTS:
        if setting not in table:
            continue
        try:
            names = convert(table[setting], tuple[str, ...])
        except ValueError:
            continue  # the fault is found when it is merged
        if not trusted and setting in _TAKING_AWAY and (refused := [name for name in names if name in kept]):
            names = tuple(name for name in names if name not in kept)
            yield (
                f"{path}: {setting!r} is ignored for {', '.join(refused)}, which your own settings pin or require, "
                "because this workspace is not trusted; --trust trusts it"
            )
        table[setting] = tuple(dict.fromkeys((*before.get(setting, ()), *names)))
