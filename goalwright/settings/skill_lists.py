"""The lists of [skills]: which skills are pinned, required, manual and off, by every file that says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goalwright.settings.convert import convert
from goalwright_skills.text.nearest import guess

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

PREFIX = "skills_"
REQUIRE = f"{PREFIX}require"
LISTS = tuple(f"{PREFIX}{name}" for name in ("pin", "require", "manual", "off"))
_TAKING_AWAY = ("skills_manual", "skills_off")
_KEPT = ("skills_pin", REQUIRE)
_MOST = 1_000


def settings_in(
    table: Mapping[str, Any], known: Collection[str], faults: list[str], path: Path
) -> Iterator[tuple[str, Any]]:
    """The settings in a table [skills] that are known; an unknown key is a fault, told as the table has it."""
    names = [setting.removeprefix(PREFIX) for setting in LISTS]
    for key, value in table.items():
        if f"{PREFIX}{key}" in known:
            yield f"{PREFIX}{key}", value
        else:
            near = guess(key.removeprefix(PREFIX), names)
            hint = f"did you mean {near!r}?" if near else f"its settings are: {', '.join(names)}"
            faults.append(f"{path}: unknown setting {key!r} in [skills]; {hint}")


def twice(table: Mapping[str, Any], document: Mapping[str, Any], path: Path) -> list[str]:
    """A fault for each setting that a file has in its table [skills] and outside of it, of which one would be lost."""
    names = [f"{PREFIX}{key}" for key in table if f"{PREFIX}{key}" in document]
    return [f"{path}: {name!r} and {told(name)} are one setting; keep the one in [skills]" for name in names]


def told(setting: str) -> str:
    """A setting as a file has it: `[skills] require`; any other in quotes."""
    return f"[skills] {setting.removeprefix(PREFIX)}" if setting in LISTS else repr(setting)


def check(names: tuple[str, ...]) -> None:
    """Raise ValueError if a list is absurdly long."""
    if len(names) > _MOST:
        raise ValueError(f"has {len(names):,} names, more than {_MOST:,}")


def join(table: dict[str, Any], path: Path, before: Mapping[str, Any], *, trusted: bool) -> Iterator[str]:
    """Add the names of the file before it to a file's lists; a workspace that is not trusted takes none away.

    It says what is ignored for that.
    """
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
            yield f"{path}: {told(setting)} is ignored for {', '.join(refused)}, which your own settings pin or require"
        table[setting] = tuple(dict.fromkeys((*before.get(setting, ()), *names)))
