"""Options that reach a command as one typed value."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner

from goalwright.interfaces.cli.configuration import SettingFlags
from goalwright.interfaces.cli.main import cli
from goalwright.interfaces.cli.option_value import option_value, together
from goalwright.settings.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Drawing:
    """A value for the tests."""

    colour: str | None = None
    wide: bool = False


colours = option_value("drawing", Drawing, click.option("--colour"))
sizes = option_value("drawing", Drawing, click.option("--wide", is_flag=True))


def commands(command: click.Command, context: click.Context) -> Iterator[click.Command]:
    if not isinstance(command, click.Group):
        yield command
        return
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        assert found is not None
        yield from commands(found, context)


def test_two_sets_of_options_fill_one_value() -> None:
    @click.command()
    @colours
    @click.option("--times", type=int)
    @sizes
    def draw(drawing: Drawing, times: int) -> None:
        click.echo(f"{drawing.colour} {drawing.wide} {times}")

    result = CliRunner().invoke(draw, ["--wide", "--times", "3", "--colour", "red"])

    assert result.output == "red True 3\n"


def test_options_keep_their_order_in_help() -> None:
    @click.command()
    @together(colours, sizes, click.option("--times"))
    def draw(drawing: Drawing, times: str) -> None:
        """Draw."""

    assert [parameter.name for parameter in draw.params] == ["colour", "wide", "times"]


def test_setting_flags_are_named_as_settings() -> None:
    others = {"changes"}  # settings by name
    assert {field.name for field in fields(SettingFlags)} - others <= {field.name for field in fields(Settings)}


def test_only_flags_that_were_given_override_settings() -> None:
    assert SettingFlags(model="a/b", timeout=0.0, allow_web=()).given() == {"model": "a/b", "timeout": 0.0}


@pytest.mark.parametrize("command", list(commands(cli, click.Context(cli))), ids=lambda command: str(command.name))
def test_every_command_names_each_of_its_parameters(command: click.Command) -> None:
    assert command.callback is not None

    parameters = inspect.signature(inspect.unwrap(command.callback)).parameters.values()

    assert all(parameter.kind is not inspect.Parameter.VAR_KEYWORD for parameter in parameters)
    assert all(parameter.annotation != "Any" for parameter in parameters)
