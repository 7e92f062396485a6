"""How the command line reports errors: what went wrong, where, and what to do next."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING

import click
import pytest

from goalwright.interfaces.cli.command_classes import LazyGroup
from goalwright.interfaces.cli.main import cli, main
from goalwright.interfaces.cli.view import output

if TYPE_CHECKING:
    from pathlib import Path


def ended(*arguments: str) -> int:
    """The exit status of a command, run in this process."""
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    return int(end.value.code or 0)


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        (["chat", "--continue", "--conversation", "x"], 1),
        (["skills", "select", "--from=missing.jsonl"], 1),
        (["skills", "select"], 7),
    ],
)
def test_an_error_of_a_command_that_prints_json_lines_is_a_line(
    arguments: list[str], lines: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(*arguments, "--json") == 2
    printed = capsys.readouterr().out
    assert len(printed.splitlines()) == lines
    assert json.loads(printed)["error"].keys() == {"code", "message", "hint"}


@pytest.mark.parametrize("group", [(), ("skills",), ("models",), ("trace",)])
def test_a_group_without_a_subcommand_shows_its_help_and_no_error(
    group: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(*group) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("Usage: goalwright")
    assert "Commands:" in captured.err
    assert "error" not in captured.err.lower().replace("errors", "")
    assert captured.out == ""


def test_wrong_usage_points_to_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("skills", "show", "--json") == 2
    captured = capsys.readouterr()
    assert json.loads(captured.out)["error"] == {
        "code": "USAGE",
        "message": "Missing argument 'NAME'.",
        "hint": "see `goalwright skills show --help`",
    }
    assert captured.err.startswith("error: Missing argument")


@pytest.mark.parametrize(
    ("flag", "named"),
    [
        (("-c", "max_tasks=many"), "-c max_tasks must be"),
        (("-c", "max_taks=4"), "-c max_taks is not a setting; did you mean 'max_tasks'?"),
        (("--timeout", "0"), "--timeout must be"),
    ],
)
def test_an_invalid_setting_is_named_with_its_flag(
    flag: tuple[str, str], named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended("run", "--workspace", str(tmp_path), *flag, "Say hello") == 2
    assert f"error: {named}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("raised", "status", "message"),
    [
        (OSError(28, "No space left on device"), 1, "error: No space left on device"),
        (PermissionError(13, "Permission denied", "notes.md"), 2, "error: notes.md: Permission denied"),
        (RuntimeError("of all things"), 1, "error: unexpected error: RuntimeError: of all things"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_every_exception_becomes_a_message_without_a_traceback(
    raised: BaseException,
    status: int,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(**_: object) -> None:
        raise raised

    monkeypatch.setattr(cli, "main", fail)
    assert ended("doctor") == status
    err = capsys.readouterr().err
    assert err.startswith(message)
    assert "Traceback" not in err
    assert status == 130 or len(err.splitlines()) == 2  # the message and the hint


def test_an_unexpected_error_has_a_traceback_with_verbose(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(**_: object) -> None:
        raise RuntimeError("of all things")

    monkeypatch.setattr(cli, "main", fail)
    assert ended("doctor", "-v") == 1
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["run", "Write", "a", "haiku"], 'put text of several words in quotes: goalwright run "…"'),
        (["Write a haiku"], 'to run a goal: goalwright run "…"'),
        (["run", "Hi", "--model"], "see `goalwright run --help`"),
        (["resume", "a", "b"], "see `goalwright resume --help`"),
        (["run", "--max-tasks", "4", "x"], "max_tasks is a setting: goalwright run -c max_tasks=VALUE"),
        (
            ["batch", "--allow-network", "x"],
            "allow_network_hosts is a setting: goalwright batch -c allow_network_hosts=",
        ),
        (["run", "--no-such-thing", "x"], "see `goalwright run --help`"),
    ],
)
def test_wrong_usage_has_a_hint(capsys: pytest.CaptureFixture[str], arguments: list[str], hint: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert f"\n  {hint}" in capsys.readouterr().err


def test_a_usage_error_has_no_traceback_even_with_verbose(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("skills", "show", "-v") == 2
    assert "Traceback" not in capsys.readouterr().err


def test_printing_works_with_closed_streams_and_limited_encodings(monkeypatch: pytest.MonkeyPatch) -> None:
    ascii_stdout = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", ascii_stdout)
    monkeypatch.setattr(sys, "stderr", None)
    monkeypatch.setattr(sys, "stdin", None)
    output.prepare_streams()
    output.print_text("中文 · done")
    output.print_json({"goal": "中文"})
    output.say("nobody hears this")
    assert sys.stdin.read() == ""
    sys.stdin.close()
    sys.stderr.close()
    ascii_stdout.seek(0)
    text, _, document = ascii_stdout.read().partition("\n")
    assert text == r"\u4e2d\u6587 - done"
    assert json.loads(document) == {"goal": "中文"}


def test_work_continues_if_stderr_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stderr", Closed())
    output.say("half way")
    assert isinstance(sys.stderr, Closed)


def all_commands(command: click.Command, path: str, above: click.Context | None = None) -> list[click.Context]:
    """The contexts of a command and of all commands below it."""
    context = click.Context(command, info_name=path, parent=above)
    contexts = [context]
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            subcommand = command.get_command(context, name)
            assert subcommand is not None
            contexts += all_commands(subcommand, name, context)
    return contexts


def test_every_command_has_help_with_examples() -> None:
    contexts = all_commands(cli, "goalwright")
    assert [one.command_path for one in contexts if "Examples:" not in one.command.get_help(one)] == []


def test_every_command_with_a_setting_takes_any_setting() -> None:
    journal_or_model = {"journal", "model", "detector"}
    for context in all_commands(cli, "goalwright"):
        options = {parameter.name for parameter in context.command.params if isinstance(parameter, click.Option)}
        reports = context.command_path in ("goalwright trace list",)  # which has a filter called --model
        assert reports or not options & journal_or_model or "changes" in options, context.command_path


def test_batch_takes_any_setting(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    goals = tmp_path / "goals.txt"
    goals.write_text("Say hello\n", encoding="utf-8")
    flags = ("--workspace", str(tmp_path), "--dry-run")
    assert ended("batch", str(goals), *flags, "-c", "detector=nope") == 2
    assert "there is no detector 'nope'" in capsys.readouterr().err
    assert ended("batch", str(goals), *flags, "-c", "detector=keyword") == 0


@pytest.mark.parametrize("name", ["run", "plan", "chat", "batch"])
def test_long_helps_have_headings(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(name, "--help") == 0
    text = capsys.readouterr().out
    headings = [line for line in text.splitlines() if line.endswith(":") and not line.startswith(" ")]
    sections = ["Goal and files:", "Skills and plan:", "Model and budget:", "Permissions:", "Output:", "Other:"]
    assert [heading for heading in headings if heading != "Cluster:"] == sections
    assert "--stream-plan" not in text


def test_group_summaries_are_the_first_lines_of_help() -> None:
    def check(group: LazyGroup) -> None:
        context = click.Context(group)
        for name, (_, summary) in group._subcommands.items():
            if name in ("batch", "skills"):  # whose help begins with other words
                continue
            command = group.get_command(context, name)
            assert command is not None
            assert (command.help or "").splitlines()[0] == summary
            if isinstance(command, LazyGroup):
                check(command)

    assert isinstance(cli, LazyGroup)
    check(cli)
