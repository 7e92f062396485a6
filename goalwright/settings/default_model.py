"""Chooses the default model: the first that is found in a chain of places."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec

from goalwright_skills.errors import SetupError
from goalwright_skills.format import safe_yaml

Probe = Callable[[], str | None]
LOCAL = "local"
LOCAL_NOTICE = (
    "using a small local model: it needs no account, but its answers are rough; "
    "for better ones choose another model, or set a provider's API key (`goalwright doctor` shows the choices)"
)


class NoModel(SetupError):
    """No model is configured, and none was found; the hint lists the ways to get one."""

    def __init__(self, hint: str) -> None:
        super().__init__("no model is configured, and none was found", hint=hint)


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider: the variable of its key, and the model to use if that key is set."""

    name: str
    key: str
    model: str


@dataclass(frozen=True, slots=True)
class Link:
    """A place in the chain: its name, the finding as text, and the model, if there is one."""

    name: str
    found: str
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen model, the reason, and the chain up to the link that has it."""

    model: str
    why: str
    chain: tuple[Link, ...]


def choose(
    env: Mapping[str, str],
    configured: str | None,
    probe_ollama: Probe,
    local_installed: bool,
    *,
    ways: Callable[[], str] | None = None,
) -> Choice:
    """Choose a model; raises SetupError, with every way to get one, if no link has a model."""
    chain = explore(env, configured, probe_ollama, local_installed)
    last = chain[-1]
    if last.model is None:
        raise NoModel((ways or choices)())
    return Choice(last.model, f"{last.name}: {last.found}", chain)


def explore(
    env: Mapping[str, str], configured: str | None, probe_ollama: Probe, local_installed: bool
) -> tuple[Link, ...]:
    """Return the chain up to the first link that has a model, or all of it if none has one."""
    links: tuple[Callable[[], Link], ...] = (
        lambda: _named("flag, GOALWRIGHT_MODEL or configuration", "no model set", configured),
        lambda: _key(env),
        lambda: _named("Ollama", "not running, or without a model", probe_ollama()),
        lambda: _named("embedded model", "goalwright[local] is not installed", LOCAL if local_installed else None),
    )
    chain: list[Link] = []
    for look in links:
        chain.append(look())
        if chain[-1].model:
            break
    return tuple(chain)


def local_is_installed() -> bool:
    """Whether the package that runs local models is installed, without importing it."""
    return find_spec("xllamacpp") is not None


def choices(download: str = "", *, local_installed: bool = False) -> str:
    """Every way to get a model, as a hint; `download` describes the download of the local model."""
    keys = ", ".join(provider.key for provider in providers())
    install = "pip install 'goalwright[local]' (in a checkout: pip install -e '.[local]'), then use the model `local`"
    return (
        "Choose one:\n"
        f"  - no account: {'`goalwright models pull`, then use the model `local`' if local_installed else install}"
        f"{f'; it downloads {download} once' if download else ''}\n"
        f"  - a provider's API key: `goalwright keys set openai`, or in the environment: {keys}\n"
        "  - Ollama: start it and pull a model, e.g. `ollama pull qwen3:4b`\n"
        "  - any model that litellm supports: GOALWRIGHT_MODEL=NAME, or `model` in goalwright.toml; "
        "for a gateway, set OPENAI_API_BASE and OPENAI_API_KEY and use openai/NAME"
    )


def providers() -> tuple[Provider, ...]:
    """The providers in default_models.yaml, in order of preference."""
    return parse(files("goalwright.settings").joinpath("default_models.yaml").read_text(encoding="utf-8"))


def parse(text: str) -> tuple[Provider, ...]:
    """The providers listed in a YAML text."""
    return tuple(Provider(**row) for row in safe_yaml.load_own(text)["providers"])


def _named(name: str, missing: str, model: str | None) -> Link:
    value = (model or "").strip()
    return Link(name, value, value) if value else Link(name, missing)


def _key(env: Mapping[str, str]) -> Link:
    for provider in providers():
        if env.get(provider.key, "").strip():
            return Link("provider key", f"{provider.key} is set: {provider.model}", provider.model)
    return Link("provider key", "none set")


def is_local(name: str) -> bool:
    """Whether this name means the embedded model."""
    return name == LOCAL or name.startswith(f"{LOCAL}/")
