"""Resolves the settings in force: flag > environment > the workspace's goalwright.toml > the user's config.toml."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalwright.settings import skill_lists, untrusted
from goalwright.settings.convert import approval_rules, convert
from goalwright.settings.settings import FLAGS_ONLY, InvalidSettings, SettingFault, Settings, setting_types
from goalwright_executor.approvals.policy import as_floors
from goalwright_skills import switches, untrusted_files
from goalwright_skills.builtin import toolset
from goalwright_skills.errors import SetupError
from goalwright_skills.text.formatting import guess

if TYPE_CHECKING:
    from goalwright_executor.approvals.policy import ApprovalRule

_FLAG, _ENVIRONMENT = "flag", "environment"
_UNTRUSTED = "because this workspace is not trusted"
_PREFIX = "GOALWRIGHT_"
# Variables that goalwright reads, or passes to a tool, and that are not settings.
_OTHER_VARIABLES = frozenset(
    f"{_PREFIX}{name}"
    for name in ("ARTIFACTS", "COMPLETE", "MODELS_DIR", "SCRATCH", "TOOL", "TOOL_SECRETS", "WORKSPACE")
)
# The keys of [models] that are roles, and their settings; `detector` outside this table is the name of a detector.
_ROLES = {role: role for role in ("decomposer", "task", "synthesis", "checker", "judge")} | {
    "detector": "detector_model"
}
# Further checks of values; each raises ValueError.
_CHECKS: dict[str, Callable[[Any], object]] = {
    toolset.KEY: toolset.expanded,
    **dict.fromkeys(("allow_web", "allow_network_hosts"), lambda hosts: [toolset.checked_host(host) for host in hosts]),
    **dict.fromkeys(skill_lists.LISTS, skill_lists.check),
}


@dataclass(frozen=True, slots=True)
class Resolved:
    """The settings in force, the origin of each one, warnings about ignored ones, and the files that were read.

    `untrusted` are those of the warnings that trusting the workspace would resolve.
    """

    settings: Settings
    origins: Mapping[str, str]
    warnings: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    untrusted: tuple[str, ...] = ()


def resolve(
    flags: Mapping[str, Any], env: Mapping[str, str], workspace: Path, user_config: Path, *, trusted: bool = False
) -> Resolved:
    """Return the settings in force; all faults in all sources are reported at once.

    `flags` are the values that the caller passes, by the settings' names.
    """
    project = workspace / "goalwright.toml"
    warnings = [*switches.faults(env), *_misspelt_variables(env)]
    ignored: list[str] = []
    sources = _Sources()
    for path in (user_config, project):
        table = dict(_read(path, sources.faults))
        if path == project:
            warnings += _drop_own(table, path)
        if path == project and not trusted:
            ignored += _drop_guarded(table, path)
            ignored += _drop_refused(table, path, sources.values)
        ignored += _join_rules(table, path, sources.values, tightening=path == project and not trusted)
        lists = skill_lists.join(table, path, sources.values, trusted=path != project or trusted)
        ignored += (f"{text}, {_UNTRUSTED}" for text in lists)
        _anchor(table, workspace)
        sources.merge(table, str(path))
    if not trusted and untrusted.has_templates(workspace):
        ignored.append(_ignored(f"{workspace / untrusted.TEMPLATES}: these templates are"))
    sources.merge(dict(_variables(env)), _ENVIRONMENT)
    invalid = sources.merge({key: value for key, value in flags.items() if value is not None}, _FLAG)
    if invalid and not sources.faults:
        raise InvalidSettings(invalid)
    if faults := [*sources.faults, *map(str, invalid)]:
        raise SetupError(
            "; ".join(faults), hint="`goalwright doctor` shows the settings in force and where they come from"
        )
    files = tuple(path for path in (user_config, project) if path.is_file())
    return Resolved(Settings(**sources.values), sources.origins, (*warnings, *ignored), files, tuple(ignored))


def resolve_without_files(flags: Mapping[str, Any], env: Mapping[str, str]) -> Resolved:
    """The settings of flags and environment alone, if a file has faults; the defaults if these have faults too."""
    nowhere = Path(os.devnull) / "none"
    try:
        return resolve(flags, env, nowhere, nowhere)
    except (InvalidSettings, SetupError):
        return Resolved(Settings(), {})


@dataclass(slots=True)
class _Sources:
    """The values merged so far, where each came from, and the faults in files and variables."""

    values: dict[str, Any] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def merge(self, table: Mapping[str, Any], origin: str) -> list[SettingFault]:
        """Merge a table over the earlier ones, and return its faults; those of flags are not added to `faults`."""
        types = setting_types()
        may_be_zero = {setting.name for setting in fields(Settings) if setting.metadata["may_be_zero"]}
        names: Collection[str] = types if origin == _FLAG else _names()
        faults: list[SettingFault] = []
        for key, raw in table.items():
            if key not in names:
                near = guess(key, names)
                hint = f"did you mean {near!r}?" if near else f"settings are: {', '.join(names)}"
                faults.append(SettingFault(key, f"is not a setting; {hint}"))
                continue
            try:
                value = convert(raw, types[key], may_be_zero=key in may_be_zero)
                self.values[key] = {**self.values.get(key, {}), **value} if isinstance(value, dict) else value
                if (check := _CHECKS.get(key)) is not None:
                    check(value)
                self.origins[key] = origin
            except ValueError as error:
                faults.append(SettingFault(key, str(error)))
        if origin != _FLAG:
            self.faults += (f"{origin}: {_in_file(fault, origin)}" for fault in faults)
        return faults


def _in_file(fault: SettingFault, origin: str) -> str:
    """A fault as text; in a file, a setting of [skills] is named as it is there."""
    return str(fault) if origin == _ENVIRONMENT else f"{skill_lists.name_in_file(fault.setting)} {fault.reason}"


def _names() -> list[str]:
    """The settings that files and variables may have."""
    return [setting.name for setting in fields(Settings) if setting.name not in FLAGS_ONLY]


def _variables(env: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    for name in _names():
        if (text := env.get(f"{_PREFIX}{name.upper()}")) not in (None, ""):
            yield name, text


def _misspelt_variables(env: Mapping[str, str]) -> Iterator[str]:
    """A warning for each variable whose name is close to that of a setting."""
    variables = [f"{_PREFIX}{name.upper()}" for name in _names()]
    for name in sorted(env):
        if not name.startswith(_PREFIX) or name in _OTHER_VARIABLES or name in variables:
            continue
        if near := guess(name, variables, cutoff=0.85):
            yield f"{name} is ignored: it is not a setting; did you mean {near}?"


def _read(path: Path, faults: list[str]) -> Iterator[tuple[str, Any]]:
    """The settings in a file, with those of its tables [models] and [skills] under their own names."""
    if not os.path.lexists(path):
        return
    from goalwright_skills.format.documents import TOML_LIMIT, parse_toml  # here, since there is usually no file

    try:
        document = parse_toml(untrusted_files.read_text(path, TOML_LIMIT))
    except (OSError, ValueError) as error:
        faults.append(f"{path} cannot be read: {error}")
        return
    for key, value in document.items():
        if key == "models" and isinstance(value, Mapping):
            yield from _models(value)
        elif key == "skills" and isinstance(value, Mapping):
            faults += skill_lists.duplicates(value, document, path)
            yield from skill_lists.settings_in(value, _names(), faults, path)
        else:
            yield key, value


def _models(table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The settings in a table [models]: those of roles, and `models` with all other names."""
    settings = {setting.name for setting in fields(Settings)}
    names: dict[str, Any] = {}
    for key, value in table.items():
        if key in _ROLES:
            yield _ROLES[key], value
        elif key in settings or guess(key, _ROLES, cutoff=0.8):  # a misspelt role is an unknown setting
            yield key, value
        else:
            names[key] = value
    if names:
        yield "models", names


def _drop_own(table: dict[str, Any], path: Path) -> Iterator[str]:
    """Remove settings that only the user's own file may have."""
    for setting in fields(Settings):
        if setting.metadata["own"] and setting.name in table:
            del table[setting.name]
            yield f"{path}: {setting.name!r} is ignored: it can only be set with a flag or in your own settings"


def _drop_guarded(table: dict[str, Any], path: Path) -> Iterator[str]:
    """Remove settings that only a trusted workspace may have."""
    for setting in fields(Settings):
        if setting.metadata["guarded"] and setting.name in table:
            del table[setting.name]
            yield _ignored(f"{path}: {skill_lists.name_in_file(setting.name)} is")


def _drop_refused(table: dict[str, Any], path: Path, users: Mapping[str, Any]) -> Iterator[str]:
    """Remove values that an untrusted workspace may not set."""
    scratch = _Sources()
    scratch.merge(table, "")  # its faults are found again when the rest is merged
    defaults = {setting.name: setting.default for setting in fields(Settings)}
    for name, reason in untrusted.refused(scratch.values, users, defaults):
        del table[name]
        yield _ignored(f"{path}: {skill_lists.name_in_file(name)} is", f" {reason}")


def _join_rules(table: dict[str, Any], path: Path, values: Mapping[str, Any], *, tightening: bool) -> Iterator[str]:
    """Put a file's rules before those of the file before it, or after them if they may only tighten."""
    try:
        rules = approval_rules(table.get("approvals", ()))
    except ValueError:
        return  # the fault is found when the table is merged
    before: tuple[ApprovalRule, ...] = values.get("approvals", ())
    if rules and tightening:
        table["approvals"] = (*before, *as_floors(rules))
        if allowing := [rule.tool for rule in rules if rule.decision == "allow"]:
            yield _ignored(f"{path}: the rules of 'approvals' that allow {', '.join(allowing)} are")
    elif rules:
        table["approvals"] = (*rules, *before)


def _ignored(subject: str, reason: str = "") -> str:
    return f"{subject} ignored, {_UNTRUSTED}{reason}"


def _anchor(table: dict[str, Any], workspace: Path) -> None:
    """Make a relative journal in a file relative to the workspace instead of the current folder."""
    if isinstance(table.get("journal"), str) and table["journal"]:
        from goalwright_executor.stores.urls import normalized  # here, since few files name a journal

        table["journal"] = normalized(table["journal"], workspace)
