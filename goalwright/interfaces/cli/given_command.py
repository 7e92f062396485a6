"""The command as the user gave it, to be printed with a change that continues it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from goalwright_executor.stores.urls import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_JOURNAL = re.compile(r"(?:[\w-]+=)?postgres(?:ql)?://\S+")


def given_arguments(default: Iterable[str] = ()) -> list[str]:
    """The arguments of the command that runs, in their order; a journal's URL is without its password."""
    given: Iterable[str] = click.get_current_context().obj or default
    return [shown(argument) if _JOURNAL.fullmatch(argument) else argument for argument in given]


def with_values(arguments: Sequence[str], values: Mapping[str, str]) -> list[str]:
    """The arguments with other values for some of their options."""
    changed: list[str] = []
    given = iter(arguments)
    for argument in given:
        name, equals, _ = argument.partition("=")
        if name not in values:
            changed.append(argument)
        elif equals:
            changed.append(f"{name}={values[name]}")
        else:
            next(given, None)
            changed += (name, values[name])
    return changed
