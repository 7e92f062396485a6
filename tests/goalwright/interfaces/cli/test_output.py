"""Output to a terminal and to a pipe."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from rich.console import Console

from goalwright.interfaces.cli.main import main
from goalwright.interfaces.cli.view import answer, output
from goalwright.interfaces.cli.view.live.live_view import LiveView
from goalwright_executor.history.result import Result
from goalwright_planner.events import PlanMade, TextStreamed, Warned
from goalwright_planner.model import Usage
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import Task

TITLE = "\x1b]0;evil\x07"
CLEAR = "\x1b[2J"
TURNED = "\u202e"
EIGHT_BIT = "\x9b2J"
HARM = f"{TITLE}{CLEAR}{TURNED}{EIGHT_BIT}\x7f\x08"
CONTROLS = "\x1b\x07\u202e\u2028\x9b\x7f\x08\r"


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


def harmful(text: str) -> list[str]:
    return [one for one in CONTROLS if one in text]


def test_controls_are_escaped_on_a_terminal() -> None:
    stdout, stderr = Terminal(), Terminal()
    with redirect_stdout(stdout), redirect_stderr(stderr):
        output.print_text(f"an\tanswer\n{HARM} — déjà vu, שלום\r\n")
        output.say(HARM)
        output.say_warning(HARM)
    assert not harmful(stdout.getvalue())
    assert not harmful(stderr.getvalue())
    assert stdout.getvalue().startswith("an\tanswer\n\\x1b]0;evil\\x07\\x1b[2J\\u202e\\x9b2J")
    assert stdout.getvalue().endswith(" — déjà vu, שלום\n")


def test_error_message_cannot_add_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    stderr = Terminal()
    with redirect_stderr(stderr):
        output.say_error(f"bad{HARM}", f"fix{HARM}", code="FAILED", status=1, as_json=False)
    own = "\x1b[31merror:\x1b[0m "
    assert stderr.getvalue().startswith(own)
    assert not harmful(stderr.getvalue().removeprefix(own))


def test_result_is_unchanged_in_a_pipe() -> None:
    stdout = io.StringIO()
    with redirect_stdout(stdout):
        output.print_result(f"{HARM}\r\n")
    assert stdout.getvalue() == f"{HARM}\r\n"


def test_other_output_is_escaped_in_a_pipe_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    stdout, stderr = io.StringIO(), io.StringIO()
    with redirect_stdout(stdout), redirect_stderr(stderr):
        output.print_text(f"title {HARM}")
        output.print_lines([f"row {HARM}", HARM])
        output.say(HARM)
        output.say_warning(HARM)
        output.say_error(f"bad{HARM}", f"fix{HARM}", code="FAILED", status=1, as_json=False)
    assert not harmful(stdout.getvalue() + stderr.getvalue())
    assert stdout.getvalue().count("evil") == 3
    assert stderr.getvalue().count("evil") == 4


@pytest.mark.parametrize("command", [["trace", "list"], ["trace", "show"], ["replay", "last"]])
def test_recorded_goal_cannot_control_the_terminal_behind_a_pipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    plan = {"goal": f"Count {HARM}", "tasks": [{"id": "a", "action_type": "tool", "name": "excel_info",
            "title": HARM, "arguments": {"path": HARM}}]}  # fmt: skip
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    stdout, stderr = io.StringIO(), io.StringIO()
    with redirect_stdout(stdout), redirect_stderr(stderr):
        for arguments in (["run", "--plan", "plan.json"], command):
            with pytest.raises(SystemExit):
                main(arguments)
    assert "evil" in stdout.getvalue()
    assert not harmful(stdout.getvalue() + stderr.getvalue())


def test_json_on_a_terminal_escapes_controls() -> None:
    stdout = Terminal()
    with redirect_stdout(stdout):
        output.print_json({"goal": HARM})
    assert not harmful(stdout.getvalue())
    assert json.loads(stdout.getvalue()) == {"goal": HARM}


def test_markdown_answer_cannot_control_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")  # so that rich adds no escapes of its own
    stdout, stderr = Terminal(), Terminal()
    result = Result("r1", "done", "g", f"# Done\n\n{HARM}", None, None, (), (), Usage(), None, None)
    with redirect_stdout(stdout), redirect_stderr(stderr):
        answer.show(result, None, "", Path(), quiet=True)
    assert not harmful(stdout.getvalue())
    assert "evil" in stdout.getvalue()


def test_live_view_escapes_titles_and_texts() -> None:
    screen = io.StringIO()
    view = LiveView(Console(file=screen, width=120, force_terminal=False))
    view.note(Warned(HARM))
    view.note(PlanMade(Plan((Task("a", "llm", title=HARM),)), 1))
    view.note(TextStreamed("synthesis", None, HARM))
    with view:
        pass
    assert not harmful(screen.getvalue())
    assert screen.getvalue().count("evil") == 2


def listed(workspace: Path, stdout: io.StringIO) -> list[str]:
    with redirect_stdout(stdout), pytest.raises(SystemExit):
        main(["skills", "list", "--all", "--workspace", str(workspace)])
    return stdout.getvalue().splitlines()


@pytest.mark.parametrize("columns", [60, 80, 160])
def test_listing_is_cut_only_on_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    text = f"Use when {'very ' * 60}much is asked for."
    for name, description in (("long-winded", text), ("broken-one", "")):
        (tmp_path / "skills" / name).mkdir(parents=True)
        (tmp_path / "skills" / name / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {description}\n---\n")
    lines = listed(tmp_path, Terminal())
    assert max(len(line) for line in lines if "[" not in line) <= columns
    assert next(len(line) for line in lines if "long-winded" in line) > columns - 6
    assert any("add `description:` with what it does and when to use it]" in line for line in lines)
    assert any(text in line for line in listed(tmp_path, io.StringIO()))


def test_skill_description_cannot_control_the_terminal(tmp_path: Path) -> None:
    folder = tmp_path / "skills" / "sly"
    folder.mkdir(parents=True)
    escaped = '"Use when \\u001b]0;evil\\u0007\\u001b[2J is asked for."'
    (folder / "SKILL.md").write_text(f"---\nname: sly\ndescription: {escaped}\n---\nbody\n")
    stdout = Terminal()
    with redirect_stdout(stdout), pytest.raises(SystemExit):
        main(["skills", "list", "--workspace", str(tmp_path)])
    assert "sly" in stdout.getvalue()
    assert not harmful(stdout.getvalue())


@pytest.mark.parametrize("on_path", [True, False])
def test_printed_commands_use_a_name_that_the_shell_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on_path: bool
) -> None:
    program = tmp_path / ".venv" / "bin" / "goalwright"
    program.parent.mkdir(parents=True)
    program.touch(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(program.parent) if on_path else "/nowhere")
    assert output.program(".venv/bin/goalwright") == ("goalwright" if on_path else ".venv/bin/goalwright")
    assert output.program("-m") == output.program("goalwright") == output.program("/gone/goalwright") == "goalwright"


def test_windows_line_endings_are_not_escaped() -> None:
    assert output.escape_controls("-old\r\n+new\r") == "-old\n+new"
    assert output.escape_controls("a\rb") == "a\\x0db"
