"""Settings: flag over environment over the workspace's weft.toml over the user's config.toml."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints

from skills import switches
from skills.errors import InputError, SetupError
from skills.text.nearest import guess

if TYPE_CHECKING:
    from pathlib import Path

    from planner.model import Role


def _setting(default: Any, help_text: str, *, guarded: bool = False) -> Any:
    """A setting with its explanation; a guarded one is not taken from a workspace that is not trusted."""
    return field(default=default, metadata={"help": help_text, "guarded": guarded})


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set, with what holds where nothing is."""

    model: str | None = _setting(None, "the litellm name of the model, or 'local'")
    fallback: tuple[str, ...] = _setting((), "models to go on with where the first fails, in order")
    decomposer: str | None = _setting(None, "the model that plans; `model` where unset")
    task: str | None = _setting(None, "the model that carries out tasks; `model` where unset")
    synthesis: str | None = _setting(None, "the model that writes the answer; `model` where unset")
    detector_model: str | None = _setting(None, "the model that the detector 'llm' asks; `model` where unset")
    api_base: str | None = _setting(None, "where requests go instead of the provider's address", guarded=True)
    detector: str = _setting("ranked", "how skills are selected, by a detector's name")
    strict_skills: bool = _setting(False, "drop skills whose name has another form or differs from their folder")
    max_concurrency: int = _setting(16, "tasks that run at a time")
    max_cost: float | None = _setting(None, "US dollars that a run may cost")
    max_tokens: int | None = _setting(None, "tokens that a run may use")
    timeout: float | None = _setting(None, "seconds that a run may take")
    task_timeout: float = _setting(900.0, "seconds that one task may take")
    call_timeout: float = _setting(300.0, "seconds that one call to a model may take")
    retry_patience: float = _setting(60.0, "seconds that a provider which asks for fewer calls is waited for")
    tool_calls: int = _setting(30, "tool calls that one task may make")
    max_tasks: int = _setting(100, "tasks that a plan may have")
    input_budget: int = _setting(60_000, "characters of earlier results that a task's prompt may hold")
    seed: str | None = _setting(None, "a folder with your own prompt templates")
    journal: str | None = _setting(
        None, "where runs are kept, such as sqlite:///path; in the workspace where unset", guarded=True
    )
    unsafe_tools: bool = _setting(False, "run tools without confinement where none is possible", guarded=True)

    def model_for(self, role: Role) -> str | None:
        """The name of the model that plays a role: its own where one is set, else the run's."""
        own: str | None = getattr(self, "detector_model" if role == "detector" else role)
        return own or self.model


class UnfitSetting(InputError):
    """Whoever asked for these settings gave names or values that are none; each fault begins with the name."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__(f"settings: {'; '.join(faults)}", hint="mend what was given; weft.Settings lists them all")
        self.faults = tuple(faults)


@dataclass(frozen=True, slots=True)
class Resolved:
    """The settings in force, where each that was set comes from, what was passed over, and the files that were read."""

    settings: Settings
    origins: Mapping[str, str]
    warnings: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()


def resolve(
    flags: Mapping[str, Any], env: Mapping[str, str], workspace: Path, user_config: Path, *, trusted: bool = False
) -> Resolved:
    """The settings in force; every fault in every source is reported at once.

    `flags` are those that the caller gives, by the settings' names.
    """
    faults: list[str] = []
    warnings = list(switches.faults(env))
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    project = workspace / "weft.toml"
    for path in (user_config, project):
        table = dict(_read(path, faults))
        if path == project and not trusted:
            warnings += _drop_guarded(table, path)
        _anchor(table, workspace)
        _take(table, str(path), values, origins, faults)
    _take(dict(_environment(env)), "environment", values, origins, faults)
    asked: list[str] = []
    _take({key: value for key, value in flags.items() if value is not None}, "flag", values, origins, asked)
    own = [text.removeprefix("flag: ") for text in asked]
    if own and not faults:
        raise UnfitSetting(own)
    faults += own
    if faults:
        raise SetupError("; ".join(faults), hint="`weft doctor` shows the settings in force and where they come from")
    files = tuple(path for path in (user_config, project) if path.is_file())
    return Resolved(Settings(**values), origins, tuple(warnings), files)


def _read(path: Path, faults: list[str]) -> Iterator[tuple[str, Any]]:
    """The settings in a file; the roles' models may stand in a table [models]."""
    if not os.path.lexists(path):
        return
    import tomllib  # not sooner: most often there is no file

    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        faults.append(f"{path} cannot be read: {error}")
        return
    for key, value in document.items():
        if key == "models" and isinstance(value, Mapping):
            # Among models, a role's name means its model; outside, `detector` names a detector.
            yield from (("detector_model" if role == "detector" else role, name) for role, name in value.items())
        else:
            yield key, value


def _environment(env: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    for one in fields(Settings):
        if (text := env.get(f"WEFT_{one.name.upper()}")) not in (None, ""):
            yield one.name, text


def _drop_guarded(table: dict[str, Any], path: Path) -> Iterator[str]:
    for one in fields(Settings):
        if one.metadata["guarded"] and one.name in table:
            del table[one.name]
            yield f"{path}: {one.name!r} is not used, because this workspace is not trusted; --trust trusts it"


def _anchor(table: dict[str, Any], workspace: Path) -> None:
    """Have a relative journal in a file begin at the workspace, wherever the command is given."""
    if isinstance(table.get("journal"), str) and table["journal"]:
        from executor.stores.urls import normal  # not sooner: few files name a journal

        table["journal"] = normal(table["journal"], workspace)


def _take(
    table: Mapping[str, Any], origin: str, values: dict[str, Any], origins: dict[str, str], faults: list[str]
) -> None:
    types = get_type_hints(Settings)
    for key, raw in table.items():
        if key not in types:
            near = guess(key, types)
            meant = f"; did you mean {near!r}?" if near else f"; settings are: {', '.join(types)}"
            faults.append(f"{origin}: there is no setting {key!r}{meant}")
            continue
        try:
            values[key] = _converted(raw, types[key])
            origins[key] = origin
        except ValueError as error:
            faults.append(f"{origin}: {key!r} {error}")


def _converted(raw: Any, wanted: Any) -> Any:
    """The value in the setting's own type, from TOML or from text."""
    if get_origin(wanted) in (Union, UnionType):
        wanted = next(one for one in get_args(wanted) if one is not type(None))
    if get_origin(wanted) is tuple:
        items = [part.strip() for part in raw.split(",")] if isinstance(raw, str) else raw
        if not isinstance(items, list | tuple) or not all(isinstance(item, str) for item in items):
            raise ValueError(f"must be a list of texts, not {raw!r}")
        return tuple(item for item in items if item)
    if wanted is bool:
        return _flag(raw)
    if wanted in (int, float):
        return _number(raw, wanted)
    if not isinstance(raw, str):
        raise ValueError(f"must be a text, not {raw!r}")  # noqa: TRY004 - one kind of error for a bad value
    return raw


def _flag(raw: Any) -> bool:
    words = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}
    if isinstance(raw, bool):
        return raw
    if isinstance(raw, str) and raw.lower() in words:
        return words[raw.lower()]
    raise ValueError(f"must be true or false, not {raw!r}")


def _number(raw: Any, wanted: type[int] | type[float]) -> int | float:
    try:
        number = wanted(raw) if isinstance(raw, str) or not isinstance(raw, bool) else None
    except (TypeError, ValueError):
        number = None
    if number is None or not number > 0:  # so that `nan`, which is neither, is refused too
        raise ValueError(f"must be a {'whole ' if wanted is int else ''}number above 0, not {raw!r}")
    return number
