"""Options that a command receives as one typed value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import click

Command = TypeVar("Command", bound=Callable[..., Any])
Decorator = Callable[[Command], Command]


def together(*decorators: Decorator[Any]) -> Decorator[Any]:
    """Combine decorators; their options keep this order in `--help`."""

    def decorate(command: Command) -> Command:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


def option_value(name: str, kind: type[Any], *options: Decorator[Any]) -> Decorator[Any]:
    """Pass options to the command as `name`, a dataclass with a field for each option.

    If a command uses the same name twice, both sets of options fill one value.
    """

    def decorate(command: Command) -> Command:
        @wraps(command)
        def with_value(**parameters: Any) -> Any:
            fields = {field: parameters.pop(field) for field in names}
            value = replace(parameters[name], **fields) if name in parameters else kind(**fields)
            return command(**parameters | {name: value})

        before = len(options_of(with_value))
        together(*options)(with_value)
        names = [option.name for option in options_of(with_value)[before:]]
        return with_value  # type: ignore[return-value]  # called by click alone, by names

    return decorate


def options_of(command: Callable[..., Any]) -> list[click.Parameter]:
    """Return the parameters that click has attached to a function."""
    parameters: list[click.Parameter] = getattr(command, "__click_params__", [])
    return parameters
