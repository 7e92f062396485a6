"""Every setting, with its default and its help text."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003  read at run time
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

from goalwright.settings.convert import ModelPrice  # noqa: TC001  read at run time
from goalwright_executor.approvals.policy import ApprovalMode, ApprovalRule  # noqa: TC001  read at run time
from goalwright_skills.builtin import toolset
from goalwright_skills.builtin.web.search_provider import SearchProvider  # noqa: TC001  read at run time
from goalwright_skills.builtin.writing.targets import WorkspaceWrites  # noqa: TC001  read at run time
from goalwright_skills.errors import InputError, SetupError
from goalwright_skills.preferences import Preferences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright_planner.model import Role

# Settings that only a flag or a program can set, no file and no variable.
FLAGS_ONLY = frozenset({"skills_without"})
# When the planning model may answer at once, without tasks.
DirectAnswers = Literal["conversation", "always", "never"]
# The settings for the models of roles whose own name means something else, or that share a model.
_ROLE_SETTINGS = {"detector": "detector_model", "condition": "task", "replanner": "decomposer", "summary": "synthesis"}


def _setting(
    default: Any, help_text: str, *, guarded: bool = False, own: bool = False, may_be_zero: bool = False
) -> Any:
    """Define a setting.

    A guarded one is ignored in the goalwright.toml of an untrusted workspace, the user's `own` in every
    goalwright.toml.
    """
    metadata = {"help": help_text, "guarded": guarded, "own": own, "may_be_zero": may_be_zero}
    return field(default=default, metadata=metadata)


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
        None, "whether models accept images, by name or pattern; overrides litellm's list"
    )
    api_base: str | None = _setting(None, "base URL for requests, instead of the provider's own", guarded=True)
    detector: str = _setting("ranked", "name of the detector that selects skills")
    translate_goals: bool = _setting(
        True, "ask the model for keywords if a goal is in another language than the skills"
    )
    strict_skills: bool = _setting(False, "ignore skills whose name is invalid or differs from their folder")
    skills_pin: tuple[str, ...] = _setting((), "skills that are always listed in full for the planning model")
    skills_require: tuple[str, ...] = _setting(
        (), "skills that every plan must use; otherwise the run fails before its tasks"
    )
    skills_manual: tuple[str, ...] = _setting((), "skills that are used only if you name them")
    skills_off: tuple[str, ...] = _setting((), "skills and tools that are never used")
    skills_without: tuple[str, ...] = _setting((), "skills and tools that this run leaves out")
    skills_dir: str | None = _setting(None, "folder of skills that override the workspace's own", guarded=True)
    max_concurrency: int = _setting(16, "most tasks that run at once")
    max_cost: float | None = _setting(None, "cost limit for a run, in US dollars")
    max_tokens: int | None = _setting(None, "token limit for a run")
    prices: Mapping[str, ModelPrice] | None = _setting(
        None, "prices of models that litellm's list lacks, in US dollars per million tokens", own=True
    )
    allow_unknown_cost: bool = _setting(
        False, "with `max_cost`, call models of unknown price and assume $15 per million tokens", own=True
    )
    timeout: float | None = _setting(None, "time limit for a run, in seconds")
    task_timeout: float = _setting(900.0, "time limit for a task, in seconds")
    call_timeout: float = _setting(300.0, "time limit for a model call, in seconds")
    retry_patience: float = _setting(60.0, "how long to wait for a rate-limited or overloaded provider, in seconds")
    tool_calls: int = _setting(30, "most tool calls of a task")
    max_tasks: int = _setting(100, "most tasks of a plan")
    max_grown: int = _setting(1_000, "most tasks that may be added to a plan while it runs")
    max_depth: int = _setting(2, "deepest nesting of sub-goals", may_be_zero=True)
    max_items: int = _setting(200, "most items of a task with `for_each`")
    max_replans: int = _setting(1, "how often a run may change its plan after a failure", may_be_zero=True)
    stream_plan: bool = _setting(True, "start tasks while the plan is still being written")
    max_artifact_mb: int = _setting(1_000, "most MB of a run's files together, and of a call's scratch folder")
    max_artifact_files: int = _setting(10_000, "most files of a run, and of a call's scratch folder")
    cache: float | None = _setting(
        None, "reuse results of other runs for the same prompt if they are at most this many days old", guarded=True
    )
    input_budget: int = _setting(60_000, "most characters of earlier results in a task's prompt")
    conversation_tokens: int | None = _setting(
        None, "most tokens of earlier turns of a conversation in a prompt (default: a quarter of the context)"
    )
    direct_answers: DirectAnswers = _setting(  # noqa: RUF009 - a field, like the others
        "conversation", "when the planning model may answer without tasks: conversation, always or never"
    )
    approve: ApprovalMode = _setting(  # noqa: RUF009 - a field, like the others
        "writes", "which tool calls need a person's approval: never, writes or all"
    )
    tools: tuple[str, ...] = _setting((), "built-in tools in addition to the standard ones", guarded=True)
    allow_web: tuple[str, ...] = _setting((), "hosts that tasks may read with WebFetch", own=True)
    allow_network_hosts: tuple[str, ...] = _setting((), "hosts that commands of shell_run may reach by HTTP", own=True)
    max_shell_seconds: int = _setting(600, "longest timeout of a shell_run command, in seconds")
    search: SearchProvider | None = _setting(  # noqa: RUF009 - a field, like the others
        None, "search provider for tasks: searxng, brave or tavily; in your own config.toml", own=True
    )
    web_proxy: bool = _setting(False, "let WebFetch use a proxy, which hides the addresses that it contacts", own=True)
    workspace_writes: WorkspaceWrites = _setting(  # noqa: RUF009 - a field, like the others
        "deny", "whether tasks may change files of the workspace: deny, ask or allow", guarded=True
    )
    approvals: tuple[ApprovalRule, ...] = _setting(
        (), "rules for tools by name, applied before `approve`: allow, ask or deny"
    )
    seed: str | None = _setting(None, "folder with your own prompt templates", guarded=True)
    journal: str | None = _setting(
        None,
        "where runs are stored: sqlite:///path or postgresql://user@host/database (default: in the workspace)",
        guarded=True,
    )
    helper_minutes: float = _setting(
        10.0,
        "how long litellm stays loaded for the next run at a terminal, in minutes; 0: not at all",
        may_be_zero=True,
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
        """The built-in tools that tasks of a new run get."""
        web = ("web",) if self.allow_web else ()
        writing = toolset.WRITING if self.workspace_writes != "deny" else ()
        search = ("search",) if self.search is not None else ()
        return toolset.expanded((*self.tools, *web, *search, *writing))

    @property
    def skill_preferences(self) -> Preferences:
        """The user's preferences about skills."""
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
        """The user's override of whether a model accepts images, by its name, else by the longest pattern."""
        overrides = self.vision or {}
        if model in overrides:
            return overrides[model]
        patterns = [pattern for pattern in overrides if fnmatchcase(model, pattern)]
        return overrides[max(patterns, key=len)] if patterns else None

    def model_called(self, name: str) -> str:
        """The model with this name in `[models]`; raises SetupError if there is none."""
        if name not in (self.models or {}):
            raise SetupError(
                f"there is no model called {name!r} in [models]",
                hint=f'add it there, such as {name} = "openai/gpt-6.1-sol"',
            )
        return (self.models or {})[name]


@cache
def setting_types() -> Mapping[str, Any]:
    """The type of each setting, by its name."""
    return get_type_hints(Settings)


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


def with_tools(settings: Settings, names: Sequence[str]) -> Settings:
    """The settings with more built-in tools; raises InvalidSettings if one is unknown."""
    try:
        toolset.expanded(names)
    except ValueError as error:
        raise InvalidSettings([SettingFault("tools", str(error))]) from error
    return replace(settings, tools=tuple(dict.fromkeys((*settings.tools, *names)))) if names else settings
