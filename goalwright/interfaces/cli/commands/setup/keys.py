"""`goalwright keys`: store providers' API keys."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from goalwright.interfaces.cli import options
from goalwright.interfaces.cli.dialogs import terminal
from goalwright.interfaces.cli.view import output
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from goalwright.interfaces.cli.view.output import OutputMode


@click.group()
def keys() -> None:
    """Store providers' API keys, so that they need not be in the environment.

    Keys are stored in the system's keyring (macOS, or Linux with secret-tool), else in a file that only you can read. A
    key in the environment takes precedence.

    \b
    Examples:
      goalwright keys set openai
      goalwright keys list
      goalwright keys remove openai
    """


@keys.command("set")
@click.argument("provider")
@click.argument("rest", nargs=-1, metavar="")
@options.printing
def set_key(provider: str, rest: tuple[str, ...], mode: OutputMode) -> int:
    """Store the key of PROVIDER.

    Asks for the key, or reads it from stdin. It is never an argument: other users could see it, and it would stay in
    your shell's history.

    \b
    Examples:
      goalwright keys set openai
      pass show openai | goalwright keys set openai

    Exit status: 0 done, 2 unknown provider or invalid key.
    """
    from goalwright.models.litellm.stored_keys import KeyStore, checked_provider

    name = checked_provider(provider)
    if rest:
        raise InputError(
            "a key on the command line is visible to other users",
            hint=f"run `goalwright keys set {name}` and paste the key when asked; replace the key given here, "
            "which may be in your shell's history",
        )
    place = KeyStore.of(os.environ).set(name, given_key(name))
    say_kept(name, place, quiet=mode.quiet)
    if mode.as_json:
        output.print_json({"provider": name, "place": place})
    return 0


@keys.command("list")
@options.printing
def list_keys(mode: OutputMode) -> int:
    """List the providers that have a key, and where it is stored. Keys are never shown.

    \b
    Examples:
      goalwright keys list
      goalwright keys list --json
    """
    from goalwright.models.litellm.keys import KEYS
    from goalwright.models.litellm.stored_keys import KeyStore, is_set

    kept = KeyStore.of(os.environ).kept()
    rows = [
        {"provider": provider, "variable": variables[0], "place": kept.get(provider), "in_environment": in_environment}
        for provider, variables in KEYS.items()
        if (in_environment := is_set(provider, os.environ)) or provider in kept
    ]
    if mode.as_json:
        output.print_json(rows)
        return 0
    for row in rows:
        here = "in the environment" if row["in_environment"] else ""
        also = f"stored in the {row['place']}" if row["place"] else ""
        used = ", which is not used" if here and also else ""
        output.print_text(f"{row['provider']:<14} {'; '.join(filter(None, (here, also)))}{used}")
    if not rows and not mode.quiet:
        output.say("No key is stored or in the environment. Store one with `goalwright keys set PROVIDER`.")
    return 0


@keys.command("remove")
@click.argument("provider")
@options.printing
def remove_key(provider: str, mode: OutputMode) -> int:
    """Remove the stored key of PROVIDER.

    \b
    Examples:
      goalwright keys remove openai

    Exit status: 0 done, 2 no key of this provider is stored.
    """
    from goalwright.models.litellm.stored_keys import KeyStore, checked_provider

    name = checked_provider(provider)
    place = KeyStore.of(os.environ).remove(name)
    if mode.as_json:
        output.print_json({"provider": name, "place": place})
    elif not mode.quiet:
        output.say(f"Removed the key of {name} from the {place}.")
    return 0


def given_key(provider: str) -> str:
    """Ask for the key without echo, or read it from stdin."""
    from goalwright.models.litellm.stored_keys import LONGEST_KEY

    if terminal.can_ask():
        return str(click.prompt(f"API key of {provider} (not shown)", hide_input=True, err=True)).strip()
    return sys.stdin.read(LONGEST_KEY + 100).strip()


def say_kept(provider: str, place: str, *, quiet: bool) -> None:
    """Report where a key is stored, and if the environment has one that takes precedence."""
    from goalwright.models.litellm.stored_keys import KeyStore, is_set

    if quiet:
        return
    where = "the system's keyring" if place == "keyring" else f"{KeyStore.of(os.environ).path}, which only you can read"
    output.say(f"The key of {provider} is stored in {where}.")
    if is_set(provider, os.environ):
        output.say_warning(f"the environment has a key of {provider} too, which takes precedence")
