"""Lists the tools of installed packages, without making them callable."""

from __future__ import annotations

from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright_skills.functions.entry_points import entry_points
from goalwright_skills.functions.signature import offered
from goalwright_skills.skill import Skill
from goalwright_skills.switches import is_off
from goalwright_skills.tools.tool import NAME, RESERVED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from goalwright_skills.functions.entry_points import EntryPoint
    from goalwright_skills.preferences import Preferences
    from goalwright_skills.skill import Source

GROUP = "goalwright.tools"


def rows(environ: Mapping[str, str], preferences: Preferences) -> Iterator[Skill]:
    """Yield a row for each tool, sorted by name: disabled, broken or active."""
    for point in entry_points(GROUP):
        source: Source = "bundled" if point.package == "goalwright" else "global"
        reason = switched_off(point.name, environ, preferences)
        if reason:
            yield Skill(point.name, "", _file_of(point), source, "executable", "disabled", reason)
        else:
            yield _loaded(point, source)


def names() -> set[str]:
    """Return the names of the tools, without importing them."""
    return {point.name for point in entry_points(GROUP)}


def switch_names() -> set[str]:
    """Return the names by which tools are switched off: their own names and the names of their domains."""
    return {switch for name in names() for switch in switches(name)}


def switched_off(name: str, environ: Mapping[str, str], preferences: Preferences) -> str:
    """Return why a tool or its domain is switched off, by a variable or by the user; empty if it is on."""
    for switch in switches(name):
        variable = f"SKILL_{switch.upper()}_ENABLED"
        if is_off(environ.get(variable, "")):
            return f"disabled by {variable}={environ[variable]}"
    return preferences.why_off(switches(name))


def explain(error: Exception) -> str:
    """Describe an error of another package: by its message if that names what is missing, otherwise with its type."""
    message = str(error) if isinstance(error, ImportError | AttributeError | TypeError) else ""
    return message or f"{type(error).__name__}: {error}"


def wrong_name(point: EntryPoint) -> str:
    """Return why a tool cannot have its name; empty if it can."""
    if not NAME.fullmatch(point.name):
        return f"its name is not <domain>_<action>; rename the entry point of {point.value}"
    return "a built-in tool has that name; rename the entry point" if point.name in RESERVED else ""


def switches(name: str) -> list[str]:
    """Return a tool's domains, the widest first, and its own name: `web`, `web_page` and `web_page_read`."""
    parts = name.split("_")
    return ["_".join(parts[:end]) for end in range(1, len(parts) + 1)]


def _file_of(point: EntryPoint) -> str:
    """Return the file of a tool's module without importing its package; empty if it is not found."""
    first, *rest = point.value.partition(":")[0].split(".")
    with suppress(ImportError, ValueError):
        spec = find_spec(first)
        if spec is not None and not rest:
            return spec.origin or ""
        for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
            inner = Path(folder, *rest)
            for file in (inner.with_name(f"{inner.name}.py"), inner / "__init__.py"):
                if file.is_file():
                    return str(file)
    return ""


def _loaded(point: EntryPoint, source: Source) -> Skill:
    if fault := wrong_name(point):
        return Skill(point.name, "", _file_of(point), source, "executable", "broken", fault)
    try:
        function = point.load()
        _, description = offered(function, point.name)
    except Exception as error:  # noqa: BLE001  another package's module may raise anything when it is imported
        own = point.package == "goalwright"  # its errors already say what to install
        reason = explain(error) if own else f"{explain(error)}; fix {point.value} or install what it needs"
        return Skill(point.name, "", _file_of(point), source, "executable", "broken", reason)
    file = getattr(getattr(function, "__code__", None), "co_filename", "") or _file_of(point)
    return Skill(point.name, description, file, source, "executable")
