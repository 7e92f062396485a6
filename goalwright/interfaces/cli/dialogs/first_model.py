"""Choose a model on a first run without a key or a model."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli.dialogs import terminal
from goalwright.interfaces.cli.resume_command import given_arguments
from goalwright.interfaces.cli.view import output
from goalwright_skills.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright.settings.settings import Settings

_INSTALL = "pip install 'goalwright[local]'"


@dataclass(frozen=True, slots=True)
class _Choice:
    """A way to get a model; `take` returns whether to download a local model."""

    text: str
    take: Callable[[], bool]


def offer(settings: Settings, mode: OutputMode, *, yes: bool) -> bool:
    """Let the user choose a model if there is none; returns whether to download a local model without asking again.

    Raises without a terminal; the error lists the same choices.
    """
    from goalwright.models.choice import ModelChoice, ways
    from goalwright.settings.default_model import NoModel

    choice = ModelChoice(settings)  # loads the stored keys
    if yes or not choice.needs_default or not _has_none(settings):
        return yes
    if mode.quiet or mode.as_json or not terminal.can_ask():
        raise NoModel(ways())
    return _ask(list(_choices()))


def _has_none(settings: Settings) -> bool:
    """Whether no model is configured or available; a local model must be downloaded."""
    from goalwright.models.local.catalogue import read
    from goalwright.models.local.store import ModelStore, models_dir
    from goalwright.settings import ollama
    from goalwright.settings.default_model import explore, local_is_installed

    if settings.model is not None:
        return False
    *_, last = explore(os.environ, None, partial(ollama.probe, os.environ), local_is_installed())
    if last.model is None:
        return True
    return last.name == "embedded model" and ModelStore(models_dir()).find(read().default) is None


def _choices() -> Iterator[_Choice]:
    from goalwright.models.choice import local_download
    from goalwright.settings import ollama
    from goalwright.settings.default_model import local_is_installed, providers

    if local_is_installed():
        yield _Choice(f"a local model, no account needed: download {local_download()}", lambda: True)
    else:
        yield _Choice(f"a local model, no account needed: {_INSTALL}, then download {local_download()}", _install_first)
    if ollama.answers(os.environ):
        yield _Choice(f"Ollama, which runs at {ollama.base_url(os.environ)} and has no model yet", _pull_first)
    names = ", ".join(provider.name for provider in providers())
    yield _Choice(f"an API key of {names}", _take_key)


def _ask(choices: list[_Choice]) -> bool:
    output.say("There is no model yet. Which one do you want to use?")
    for number, choice in enumerate(choices, 1):
        output.say(f"  {number}  {choice.text}")
    output.say("(For any other litellm model: --model NAME.)")
    chosen = click.prompt("Number", type=click.IntRange(1, len(choices)), default=1, err=True)
    return choices[chosen - 1].take()


def _install_first() -> bool:
    again = shlex.join([output.program(), *given_arguments()])
    raise SetupError("goalwright[local] is not installed", hint=f"run: {_INSTALL}\n  then: {again}")


def _pull_first() -> bool:
    from goalwright.settings import ollama

    while ollama.probe(os.environ) is None:
        output.say("In another terminal, pull a model: ollama pull qwen3:4b")
        if not click.confirm("Is it downloaded?", default=True, err=True):
            raise SetupError("Ollama has no model", hint="pull one: ollama pull qwen3:4b")
    return False


def _take_key() -> bool:
    """Ask for a key, and store and load it."""
    from goalwright.interfaces.cli.commands.setup.keys import given_key, say_kept
    from goalwright.models.litellm import stored_keys
    from goalwright.models.litellm.keys import KEYS
    from goalwright.settings.default_model import providers

    by_key = {variables[0]: name for name, variables in KEYS.items()}
    names = [by_key[provider.key] for provider in providers()]
    name = click.prompt("Provider", type=click.Choice(names), default=names[0], err=True)
    place = stored_keys.KeyStore.of(os.environ).set(name, given_key(name))
    say_kept(name, place, quiet=False)
    stored_keys.load(os.environ)
    return False
