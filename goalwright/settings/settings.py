"""Settings: a flag beats the environment, which beats the workspace's goalwright.toml, which beats the user's config.toml."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

from goalwright.settings import named_models, skill_lists, untrusted, variables
from goalwright.settings.convert import approval_rules, convert
from goalwright.settings.model_prices import ModelPrice  # noqa: TC001  read at run time
from goalwright_executor.approvals.policy import ApprovalMode, ApprovalRule, as_floors
from goalwright_skills import switches, untrusted_files
from goalwright_skills.builtin import toolset
from goalwright_skills.builtin.web.search_provider import SearchProvider  # noqa: TC001  read at run time
from goalwright_skills.builtin.writing.workspace_writes import WorkspaceWrites  # noqa: TC001  read at run time
from goalwright_skills.errors import InputError, SetupError
from goalwright_skills.preferences import Preferences
from goalwright_skills.text.nearest import guess

if TYPE_CHECKING:
    from goalwright_planner.model import Role


def _setting(
    default: Any, help_text: str, *, guarded: bool = False, own: bool = False, may_be_zero: bool = False
) -> Any:
    """A setting with its help text.

    A guarded one is ignored in the goalwright.toml of an untrusted workspace, one that is the user's `own` in any goalwright.toml.
    """
    metadata = {"help": help_text, "guarded": guarded, "own": own, "may_be_zero": may_be_zero}
    return field(default=default, metadata=metadata)


# Where a value comes from that the caller passes.
_FLAG, _ENVIRONMENT = "flag", "environment"
# What only a flag or a program sets: no file and no variable does.
FLAGS_ONLY = frozenset({"skills_without"})


# Where the model that plans may answer at once, without tasks.
DirectAnswers = Literal["conversation", "always", "never"]
# The settings for the models of roles whose own name means something else, or that share a model.
_ROLE_SETTINGS = {"detector": "detector_model", "condition": "task", "replanner": "decomposer", "summary": "synthesis"}


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting, with its default."""

    model: str | None = _setting(None, "litellm name of the model, or 'local'")
    fallback: tuple[str, ...] = _setting((), "models to try, in order, if the first one fails")
    decomposer: str | None = _setting(None, "model that plans (default: `model`)")
    task: str | None = _setting(None, "model that runs the tasks (default: `model`)")
    synthesis: str | None = _setting(None, "model that writes the answer (default: `model`)")
    detector_model: str | None = _setting(
        None, "model used by the detector 'llm' and for `translate_goals` (default: `model`)"
    )
    checker: str | None = _setting(None, "model that checks results (default: `model`)")
    judge: str | None = _setting(None, "model that judges answers in evaluations (default: `model`)")
    models: Mapping[str, str] | None = _setting(None, "models that tasks may choose, by names such as fast and strong")
    vision: Mapping[str, bool] | None = _setting(
        None, "whether models can see images, by name or pattern, if litellm's list has them wrong or not at all"
    )
    api_base: str | None = _setting(None, "base URL for requests, instead of the provider's own", guarded=True)
    detector: str = _setting("ranked", "name of the detector that selects skills")
    translate_goals: bool = _setting(
        True, "ask the model for keywords if a goal is in another language than the skills"
    )
    strict_skills: bool = _setting(False, "ignore skills whose name is invalid or differs from their folder")
    skills_pin: tuple[str, ...] = _setting((), "skills that are always listed in full for the model that plans")
    skills_require: tuple[str, ...] = _setting((), "skills that every plan must use, or the run fails before its tasks")
    skills_manual: tuple[str, ...] = _setting((), "skills that are used only if you name them")
    skills_off: tuple[str, ...] = _setting((), "skills and tools that are not used at all")
    skills_without: tuple[str, ...] = _setting((), "skills and tools that this run leaves out, with --without")
    skills_dir: str | None = _setting(None, "a folder of skills that count before the workspace's own", guarded=True)
    max_concurrency: int = _setting(16, "how many tasks may run at once")
    max_cost: float | None = _setting(None, "cost limit for a run, in US dollars")
    max_tokens: int | None = _setting(None, "token limit for a run")
    prices: Mapping[str, ModelPrice] | None = _setting(
        None, "prices of models that are not known, in US dollars per million tokens", own=True
    )
    allow_unknown_cost: bool = _setting(
        False, "with `max_cost`, call models of unknown price and count $15 per million tokens", own=True
    )
    timeout: float | None = _setting(None, "time limit for a run, in seconds")
    task_timeout: float = _setting(900.0, "time limit for a task, in seconds")
    call_timeout: float = _setting(300.0, "time limit for a model call, in seconds")
    retry_patience: float = _setting(60.0, "how long to wait for a rate-limited or overloaded provider, in seconds")
    tool_calls: int = _setting(30, "how many tool calls a task may make")
    max_tasks: int = _setting(100, "how many tasks a plan may have")
    max_grown: int = _setting(1_000, "how many tasks may join a plan while it runs, in all")
    max_depth: int = _setting(2, "how deep sub-goals may be nested", may_be_zero=True)
    max_items: int = _setting(200, "how many items a task with `for_each` may have")
    max_replans: int = _setting(1, "how often a run may change its plan after a failure", may_be_zero=True)
    stream_plan: bool = _setting(True, "start tasks while the plan is still being written")
    max_artifact_mb: int = _setting(1_000, "how many MB a run's files may have in all, and a call's scratch folder")
    max_artifact_files: int = _setting(10_000, "how many files a run may keep, and a call's scratch folder may have")
    cache: float | None = _setting(
        None, "reuse results of other runs for the same prompt, if they are at most this many days old", guarded=True
    )
    input_budget: int = _setting(60_000, "how many characters of earlier results a task's prompt may hold")
    conversation_tokens: int | None = _setting(
        None, "how many tokens of a prompt earlier turns of a conversation may take (default: a quarter of the context)"
    )
    direct_answers: DirectAnswers = _setting(  # noqa: RUF009 - a field, like the others
        "conversation", "where the model that plans may answer at once: conversation, always or never"
    )
    approve: ApprovalMode = _setting(  # noqa: RUF009 - a field, like the others
        "writes", "which tool calls ask a person first: never, writes or all"
    )
    tools: tuple[str, ...] = _setting((), "built-in tools besides the standard ones", guarded=True)
    allow_web: tuple[str, ...] = _setting((), "hosts that tasks may read with WebFetch", own=True)
    allow_network_hosts: tuple[str, ...] = _setting((), "hosts that commands of shell_run may reach by HTTP", own=True)
    max_shell_seconds: int = _setting(600, "how many seconds a command of shell_run may ask for")
    search: SearchProvider | None = _setting(  # noqa: RUF009 - a field, like the others
        None, "where tasks search the web: searxng, brave or tavily; in your own config.toml", own=True
    )
    web_proxy: bool = _setting(False, "let WebFetch use a proxy, which hides the addresses it reaches", own=True)
    workspace_writes: WorkspaceWrites = _setting(  # noqa: RUF009 - a field, like the others
        "deny", "whether tasks may change files of the workspace: deny, ask or allow", guarded=True
    )
    approvals: tuple[ApprovalRule, ...] = _setting((), "rules for tools by name, before `approve`: allow, ask or deny")
    seed: str | None = _setting(None, "folder with your own prompt templates", guarded=True)
    journal: str | None = _setting(
        None,
        "where runs are stored: sqlite:///path or postgresql://user@host/database (default: in the workspace)",
        guarded=True,
    )
    helper_minutes: float = _setting(
        10.0, "how long litellm stays loaded for the next run at a terminal, in minutes; 0: never", may_be_zero=True
    )
    send_spans: bool = _setting(
        False, "send each run to OTEL_EXPORTER_OTLP_ENDPOINT as OpenTelemetry spans when it ends", guarded=True
    )
    allow_programs: bool = _setting(
        False, "as a worker, run the programs and templates that the sender of a batch trusts", own=True
    )
    unsafe_tools: bool = _setting(False, "run tools unconfined if confinement is not available", guarded=True)

    @property
    def tool_set(self) -> tuple[str, ...]:
        """The built-in tools that tasks of a new run are offered."""
        web = ("web",) if self.allow_web else ()
        writing = toolset.WRITING if self.workspace_writes != "deny" else ()
        search = ("search",) if self.search is not None else ()
        return toolset.expanded((*self.tools, *web, *search, *writing))

    @property
    def skill_preferences(self) -> Preferences:
        """What the user decides about skills."""
        lists = self.skills_pin, self.skills_require, self.skills_manual, self.skills_off
        return Preferences(*lists, without=self.skills_without)

    @property
    def required_skills(self) -> tuple[str, ...]:
        """The skills that every plan of this run must use."""
        return self.skill_preferences.required

    def model_for(self, role: Role) -> str | None:
        """The name of the model for a role: the role's own if set, else the run's."""
        own: str | None = getattr(self, _ROLE_SETTINGS.get(role, role))
        return own or self.model or (self.task if role == "checker" else None)

    def sees(self, model: str) -> bool | None:
        """The user's word on whether a model can see: by its name, else by the longest pattern; None: there is none."""
        words = self.vision or {}
        patterns = [pattern for pattern in words if fnmatchcase(model, pattern)]
        return words[model] if model in words else words[max(patterns, key=len)] if patterns else None

    def model_called(self, name: str) -> str:
        """The model of that name in `[models]`; raises SetupError if there is none."""
        if name not in (self.models or {}):
            raise SetupError(
                f"there is no model called {name!r} in [models]",
                hint=f'name one there, such as {name} = "openai/gpt-4o"',
            )
        return (self.models or {})[name]


# Why settings of a workspace do not count, and what to do.
_UNTRUSTED, HOW_TO_TRUST = "because this workspace is not trusted", "; `goalwright run --trust` trusts it"

# What else a value must be; raises ValueError.
_CHECKS: dict[str, Callable[[Any], object]] = {
    toolset.KEY: toolset.expanded,
    **dict.fromkeys(("allow_web", "allow_network_hosts"), lambda hosts: [toolset.checked_host(host) for host in hosts]),
    **dict.fromkeys(skill_lists.LISTS, skill_lists.check),
}


@dataclass(frozen=True, slots=True)
class SettingFault:
    """An unknown setting or an invalid value; `reason` follows the setting's name in a sentence."""

    setting: str
    reason: str

    def __str__(self) -> str:
        return f"{self.setting!r} {self.reason}"


class InvalidSettings(InputError):
    """The caller passed unknown settings or invalid values."""

    def __init__(self, faults: Sequence[SettingFault]) -> None:
        listed = "; ".join(map(str, faults))
        super().__init__(f"settings: {listed}", hint="fix these; goalwright.Settings lists every setting")
        self.faults = tuple(faults)


@dataclass(frozen=True, slots=True)
class Resolved:
    """The settings in force, where each one came from, warnings about ignored ones, and the files that were read."""

    settings: Settings
    origins: Mapping[str, str]
    warnings: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()


def with_tools(settings: Settings, names: Sequence[str]) -> Settings:
    """The settings with further built-in tools; raises InvalidSettings if one is unknown."""
    try:
        toolset.expanded(names)
    except ValueError as error:
        raise InvalidSettings([SettingFault("tools", str(error))]) from error
    return replace(settings, tools=tuple(dict.fromkeys((*settings.tools, *names)))) if names else settings


def resolve(
    flags: Mapping[str, Any], env: Mapping[str, str], workspace: Path, user_config: Path, *, trusted: bool = False
) -> Resolved:
    """The settings in force; every fault in every source is reported at once.

    `flags` holds what the caller passes, by the settings' names.
    """
    faults: list[str] = []
    warnings = [*switches.faults(env), *variables.misspelt(env, _in_files())]
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    project = workspace / "goalwright.toml"
    for path in (user_config, project):
        table = dict(_read(path, faults))
        if path == project:
            warnings += _drop_own(table, path)
        if path == project and not trusted:
            warnings += _drop_guarded(table, path)
            warnings += _drop_refused(table, path, values)
        warnings += _join_rules(table, path, values, tightening=path == project and not trusted)
        refused = skill_lists.join(table, path, values, trusted=path != project or trusted)
        warnings += [f"{what}, {_UNTRUSTED}{HOW_TO_TRUST}" for what in refused]
        _anchor(table, workspace)
        faults += [f"{path}: {_in_file(fault)}" for fault in _merge(table, str(path), values, origins)]
    if not trusted and untrusted.has_templates(workspace):
        warnings.append(_ignored(f"{workspace / untrusted.TEMPLATES}: these templates are", ""))
    faults += [f"{_ENVIRONMENT}: {fault}" for fault in _merge(dict(_environment(env)), _ENVIRONMENT, values, origins)]
    passed = {key: value for key, value in flags.items() if value is not None}
    own = list(_merge(passed, _FLAG, values, origins))
    if own and not faults:
        raise InvalidSettings(own)
    faults += map(str, own)
    if faults:
        raise SetupError(
            "; ".join(faults), hint="`goalwright doctor` shows the settings in force and where they come from"
        )
    files = tuple(path for path in (user_config, project) if path.is_file())
    return Resolved(Settings(**values), origins, tuple(warnings), files)


def resolve_without_files(flags: Mapping[str, Any], env: Mapping[str, str]) -> Resolved:
    """The settings of flags and the environment alone, for where a file has faults; none at all if these have some."""
    nowhere = Path(os.devnull) / "none"
    try:
        return resolve(flags, env, nowhere, nowhere)
    except (InvalidSettings, SetupError):
        return Resolved(Settings(), {})


def _read(path: Path, faults: list[str]) -> Iterator[tuple[str, Any]]:
    """The settings in a file.

    A table [models] has models for roles, and models by names that tasks may choose; [skills] has lists of skills.
    """
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
            yield from named_models.settings_in(value, [setting.name for setting in fields(Settings)])
        elif key == "skills" and isinstance(value, Mapping):
            faults += skill_lists.twice(value, document, path)
            yield from skill_lists.settings_in(value, _in_files(), faults, path)
        else:
            yield key, value


def _environment(env: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    for name in _in_files():
        if (text := env.get(f"GOALWRIGHT_{name.upper()}")) not in (None, ""):
            yield name, text


def _in_files() -> list[str]:
    """The settings that files and variables may have."""
    return [setting.name for setting in fields(Settings) if setting.name not in FLAGS_ONLY]


def _drop_own(table: dict[str, Any], path: Path) -> Iterator[str]:
    for setting in fields(Settings):
        if setting.metadata["own"] and setting.name in table:
            del table[setting.name]
            yield f"{path}: {setting.name!r} is ignored: it can only be set with a flag or in your own settings"


def _drop_guarded(table: dict[str, Any], path: Path) -> Iterator[str]:
    for setting in fields(Settings):
        if setting.metadata["guarded"] and setting.name in table:
            del table[setting.name]
            yield _ignored(f"{path}: {skill_lists.told(setting.name)} is", "")


def _drop_refused(table: dict[str, Any], path: Path, users: Mapping[str, Any]) -> Iterator[str]:
    values: dict[str, Any] = {}
    list(_merge(table, "", values, {}))  # the faults are reported when the remaining settings are merged
    defaults = {setting.name: setting.default for setting in fields(Settings)}
    for name, reason in untrusted.refused(values, users, defaults):
        del table[name]
        yield _ignored(f"{path}: {skill_lists.told(name)} is", f" {reason}")


def _join_rules(table: dict[str, Any], path: Path, values: Mapping[str, Any], *, tightening: bool) -> Iterator[str]:
    """Put a file's rules before those of the file before it; rules that may only tighten come behind."""
    try:
        rules = approval_rules(table.get("approvals", ()))
    except ValueError:
        return  # the fault is found when it is merged
    before: tuple[ApprovalRule, ...] = values.get("approvals", ())
    if rules and tightening:
        table["approvals"] = (*before, *as_floors(rules))
        if allowing := [rule.tool for rule in rules if rule.decision == "allow"]:
            yield _ignored(f"{path}: the rules of 'approvals' that allow {', '.join(allowing)} are", "")
    elif rules:
        table["approvals"] = (*rules, *before)


def _ignored(what: str, reason: str) -> str:
    return f"{what} ignored, {_UNTRUSTED}{reason}{HOW_TO_TRUST}"


def _anchor(table: dict[str, Any], workspace: Path) -> None:
    """Make a relative journal in a file relative to the workspace, whatever the current folder is."""
    if isinstance(table.get("journal"), str) and table["journal"]:
        from goalwright_executor.stores.urls import normal  # here, since few files name a journal

        table["journal"] = normal(table["journal"], workspace)


@cache
def setting_types() -> Mapping[str, Any]:
    """The type of each setting, by its name."""
    return get_type_hints(Settings)


def _in_file(fault: SettingFault) -> str:
    """A fault with the name that the setting has in a file."""
    return f"{skill_lists.told(fault.setting)} {fault.reason}"


def _merge(
    table: Mapping[str, Any], origin: str, values: dict[str, Any], origins: dict[str, str]
) -> Iterator[SettingFault]:
    """Convert the settings of a table into `values`; yields the faults."""
    types = setting_types()
    may_be_zero = {setting.name for setting in fields(Settings) if setting.metadata["may_be_zero"]}
    known = types if origin == _FLAG else _in_files()
    for key, raw in table.items():
        if key not in known:
            near = guess(key, known)
            hint = f"did you mean {near!r}?" if near else f"settings are: {', '.join(known)}"
            yield SettingFault(key, f"is not a setting; {hint}")
            continue
        try:
            value = convert(raw, types[key], may_be_zero=key in may_be_zero)
            values[key] = {**values.get(key, {}), **value} if isinstance(value, dict) else value
            if (check := _CHECKS.get(key)) is not None:
                check(value)
            origins[key] = origin
        except ValueError as error:
            yield SettingFault(key, str(error))
