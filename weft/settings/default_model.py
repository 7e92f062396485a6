"""Which model works when none is named on the command line: the first link of a chain that answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec

import yaml

from skills.errors import SetupError

LOCAL = "local"
LOCAL_NOTICE = (
    "a small local model is at work: it needs no account, and its answers are rough; "
    "for better ones name a model with --model, or set a provider's key (`weft doctor` shows the choices)"
)
Probe = Callable[[], str | None]


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider: the variable that holds its key, and the model that the key stands for."""

    name: str
    key: str
    model: str


@dataclass(frozen=True, slots=True)
class Link:
    """One link of the chain: what was looked at, what came of it, and the model it gave, if any."""

    name: str
    found: str
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """The model chosen, why, and the whole chain; links after the one that answered were not asked."""

    model: str
    why: str
    chain: tuple[Link, ...]


def choose(env: Mapping[str, str], configured: str | None, probe_ollama: Probe, local_installed: bool) -> Choice:
    """The model to use; SetupError with every choice spelled out where no link answers."""
    chain = explore(env, configured, probe_ollama, local_installed)
    answered = chain[-1]
    if answered.model is None:
        raise SetupError("no model is named, and none was found", hint=choices())
    return Choice(answered.model, f"{answered.name}: {answered.found}", chain)


def explore(
    env: Mapping[str, str], configured: str | None, probe_ollama: Probe, local_installed: bool
) -> tuple[Link, ...]:
    """The chain as far as the first link that answers; to its end where none does."""
    links: tuple[Callable[[], Link], ...] = (
        lambda: _named("flag, WEFT_MODEL or configuration", "names no model", configured),
        lambda: _key(env),
        lambda: _named("Ollama", "not running, or it has no model", probe_ollama()),
        lambda: _named("local", "weft[local] is not installed", LOCAL if local_installed else None),
    )
    chain: list[Link] = []
    for ask in links:
        chain.append(ask())
        if chain[-1].model:
            break
    return tuple(chain)


def local_is_installed() -> bool:
    """Whether the package that runs local models is there, without importing it."""
    return find_spec("xllamacpp") is not None


def choices() -> str:
    """What a person can do to have a model, all ways."""
    keys = ", ".join(provider.key for provider in providers())
    return (
        "Choose one:\n"
        "  - no account: pip install 'weft[local]' (in a checkout: pip install -e '.[local]'), "
        "then --model local\n"
        f"  - a provider's key in the environment: {keys}\n"
        "  - Ollama: start it and pull a model, for example `ollama pull qwen3:4b`\n"
        "  - any model that litellm knows: --model NAME, WEFT_MODEL=NAME, or `model` in weft.toml; "
        "for a gateway set OPENAI_API_BASE and OPENAI_API_KEY and name the model openai/NAME"
    )


def providers() -> tuple[Provider, ...]:
    """The providers as shipped, in order of preference."""
    return parse(files("weft.settings").joinpath("default_models.yaml").read_text(encoding="utf-8"))


def parse(text: str) -> tuple[Provider, ...]:
    """The providers that a YAML text lists."""
    return tuple(Provider(**row) for row in yaml.safe_load(text)["providers"])


def _named(name: str, without: str, model: str | None) -> Link:
    value = (model or "").strip()
    return Link(name, value, value) if value else Link(name, without)


def _key(env: Mapping[str, str]) -> Link:
    for provider in providers():
        if env.get(provider.key, "").strip():
            return Link("provider key", f"{provider.key} is set, so {provider.model}", provider.model)
    return Link("provider key", "none is set")


def is_local(name: str) -> bool:
    """Whether a model's name means the embedded one."""
    return name == LOCAL or name.startswith(f"{LOCAL}/")
