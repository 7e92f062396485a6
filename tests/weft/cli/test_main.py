"""How the command line ends: every failure in a line that says what, where and what next."""

from __future__ import annotations

import io
import json
import sys

import click
import pytest

from weft.cli.main import cli, main
from weft.cli.view import output


def ended(*arguments: str) -> int:
    """The exit status of a command, run in this process."""
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    return int(end.value.code or 0)


@pytest.mark.parametrize("group", [(), ("skills",), ("models",), ("trace",)])
def test_a_bare_group_shows_its_help_and_calls_it_no_error(
    group: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(*group) == 2
    said = capsys.readouterr()
    assert said.err.startswith("Usage: weft")
    assert "Commands:" in said.err
    assert "error" not in said.err.lower().replace("errors", "")
    assert said.out == ""


def test_wrong_usage_says_where_the_help_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("skills", "show", "--json") == 2
    said = capsys.readouterr()
    assert json.loads(said.out)["error"] == {
        "code": "USAGE",
        "message": "Missing argument 'NAME'.",
        "hint": "`weft skills show --help` shows how it is used",
    }
    assert said.err.startswith("error: Missing argument")


@pytest.mark.parametrize(
    ("raised", "status", "said"),
    [
        (OSError(28, "No space left on device"), 1, "error: No space left on device"),
        (PermissionError(13, "Permission denied", "notes.md"), 2, "error: notes.md: Permission denied"),
        (RuntimeError("of all things"), 1, "error: an unexpected error: RuntimeError: of all things"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_whatever_is_raised_ends_in_a_message_not_in_a_stack(
    raised: BaseException, status: int, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(**_: object) -> None:
        raise raised

    monkeypatch.setattr(cli, "main", fail)
    assert ended("doctor") == status
    err = capsys.readouterr().err
    assert err.startswith(said)
    assert "Traceback" not in err
    assert status == 130 or len(err.splitlines()) == 2  # what, then what next


def test_an_unexpected_error_has_its_stack_with_verbose(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(**_: object) -> None:
        raise RuntimeError("of all things")

    monkeypatch.setattr(cli, "main", fail)
    assert ended("doctor", "-v") == 1
    assert "Traceback" in capsys.readouterr().err


def test_a_usual_error_has_none_even_with_verbose(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("skills", "show", "-v") == 2
    assert "Traceback" not in capsys.readouterr().err


def test_streams_that_are_closed_or_lack_characters_can_be_printed_to(monkeypatch: pytest.MonkeyPatch) -> None:
    poor = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", poor)
    monkeypatch.setattr(sys, "stderr", None)
    monkeypatch.setattr(sys, "stdin", None)
    output.ready_streams()
    output.print_text("中文 · done")
    output.print_json({"goal": "中文"})
    output.say("nobody hears this")
    assert sys.stdin.read() == ""
    sys.stdin.close()
    sys.stderr.close()
    poor.seek(0)
    text, _, document = poor.read().partition("\n")
    assert text == r"\u4e2d\u6587 \xb7 done"
    assert json.loads(document) == {"goal": "中文"}


def test_work_goes_on_where_nobody_reads_its_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stderr", Gone())
    output.say("half way")
    assert isinstance(sys.stderr, Gone)


def test_every_command_has_help_with_examples() -> None:
    def commands(command: click.Command, path: str, above: click.Context | None = None) -> list[tuple[str, str]]:
        context = click.Context(command, info_name=path.split()[-1], parent=above)
        found = [(path, command.get_help(context))]
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                below = command.get_command(context, name)
                assert below is not None
                found += commands(below, f"{path} {name}", context)
        return found

    without = [path for path, text in commands(cli, "weft") if "Examples:" not in text]
    assert without == []
