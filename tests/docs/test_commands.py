"""Every command in the documentation runs as written, against a server in place of the providers."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pytest

from goalwright.interfaces.cli.main import cli
from tests import needs
from tests.docs import goalwright_command
from tests.image_bytes import png
from tests.openai_server import scripted
from tests.provider_server import ProviderServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.nursery import Nursery

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"(?:<!-- not run: (?P<reason>[^\n]+) -->\n+)?```sh\n(?P<text>(?!#!).*?)```", re.DOTALL)
COMMAND = re.compile(r"^(?:\w+=\S+ )?goalwright .*$", re.MULTILINE)
EXIT = re.compile(r"# exit status (\d+)")
FILES: dict[str, str | bytes] = {
    "shots/page.png": png(640, 480),
    "notes.md": "# Notes\n\nMonday: shipped the cache. Tuesday: wrote tests.\n",
    "notes/week.md": "Monday: shipped the cache.\n",
    "CHANGES.md": "- Adds a cache\n- Fixes a crash\n",
    "README.md": "# A service\n",
    "goals.jsonl": '{"goal": "Write the release notes of version 2.1", "expected": "release-notes"}\n',
}
PLAN = {"tasks": [{"id": "one", "action_type": "llm", "instruction": "Do it"}]}
_FACTS = {"id": "facts", "action_type": "llm", "instruction": "Read notes.md for what the sales team did."}
PLANS: dict[str, Any] = {
    "approvals": {"tasks": [{**PLAN["tasks"][0], "id": name, "needs_approval": True} for name in ("one", "two")]},
    "recipes": {"tasks": [_FACTS]},
}


@dataclass(frozen=True)
class Shown:
    """A block of commands on a page."""

    text: str
    reason: str | None

    @property
    def statuses(self) -> list[int]:
        """The expected exit status of each `goalwright` command, from the comment beside it."""
        return [int(match[1]) if (match := EXIT.search(line)) else 0 for line in COMMAND.findall(self.text)]


def blocks(page: Path) -> list[Shown]:
    return [Shown(match["text"], match["reason"]) for match in BLOCK.finditer(page.read_text(encoding="utf-8"))]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / "work" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return tmp_path / "work"


@pytest.fixture
def shell(tmp_path: Path, nursery: Nursery) -> dict[str, str]:
    keys = {"OPENAI_API_KEY": "sk-test", "ANTHROPIC_API_KEY": "sk-test"}
    command = goalwright_command.install(tmp_path / "bin", tmp_path / "log.jsonl", nursery)
    return {**command, **keys, "GOALWRIGHT_MODEL": "openai/gpt-4o", "EDITOR": "true"}


@pytest.mark.parametrize(
    "page", [page for page in PAGES if any(not block.reason for block in blocks(page))], ids=lambda page: page.stem
)
@pytest.mark.slow
def test_the_commands_of_a_page_run_as_written(page: Path, workspace: Path, shell: dict[str, str]) -> None:
    needs.need("git")
    if any("jq " in shown.text for shown in blocks(page)):
        needs.need("jq")
    _git(workspace)
    with ProviderServer(scripted(PLANS.get(page.stem, PLAN))) as server:
        for shown in blocks(page):
            if shown.reason is None:
                _run(shown, workspace, shell, server)


def _run(shown: Shown, workspace: Path, shell: dict[str, str], server: ProviderServer) -> None:
    log = Path(shell[goalwright_command.LOG])
    log.write_text("", encoding="utf-8")
    script = shown.text.replace("https://gateway.example.com/v1", server.base)
    ran = subprocess.run(
        ["bash", "-c", script], cwd=workspace, env={**shell, **server.env}, capture_output=True, text=True, timeout=600
    )
    output = f"{script}\n{ran.stdout}\n{ran.stderr}"
    assert [json.loads(line)["status"] for line in log.read_text(encoding="utf-8").splitlines()] == shown.statuses, (
        output
    )
    assert "Traceback" not in output
    assert ran.returncode == (shown.statuses[-1] if shown.statuses else 0), output


def _git(folder: Path) -> None:
    """Make a repository with two commits and a tag between them, which the pages assume."""
    author = ["-c", "user.name=A", "-c", "user.email=a@example.com"]
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "One"], ["tag", "v1.1"]):
        subprocess.run(["git", *author, *command], cwd=folder, check=True)
    subprocess.run(["git", *author, "commit", "-q", "--allow-empty", "-m", "Two"], cwd=folder, check=True)


def test_blocks_that_are_not_run_give_a_known_reason() -> None:
    reasons = {block.reason for page in PAGES for block in blocks(page) if block.reason}
    known = (
        "needs the internet",
        "needs another machine",
        "needs an earlier commit",
        "needs a PostgreSQL server",
        "takes minutes",
        "runs the tests",
        "runs until Ctrl-C",
        "asks for a key",
        "needs nine cases and rounds of evaluations",
    )
    assert {reason for reason in reasons if not reason.startswith(known)} == set()


def _commands(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from _commands(below, (*path, name))


COMMANDS = dict(_commands(cli))
EXAMPLES = {
    line.partition("  #")[0].strip()
    for command in COMMANDS.values()
    for line in re.findall(r"^ +(?:echo .* \| )?(goalwright .*)$", command.help or "", re.MULTILINE)
}


@pytest.mark.parametrize("example", sorted(EXAMPLES))
def test_examples_of_the_help_parse(example: str, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workspace)
    words = shlex.split(re.split(r" (?:\||>+|<|&+) ", example)[0])[1:]
    path: tuple[str, ...] = ()
    while words and (*path, words[0]) in COMMANDS:
        path = (*path, words.pop(0))
    COMMANDS[path].make_context("goalwright", words)


def test_every_option_is_in_the_documentation() -> None:
    pages = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    documented = set(re.findall(r"(?<![\w-])-{1,2}[a-z][a-z0-9-]*", pages))
    missing = [
        f"{' '.join(('goalwright', *path))} {option.opts[0]}"
        for path, command in COMMANDS.items()
        for option in command.params
        if isinstance(option, click.Option) and not documented & {*option.opts, *option.secondary_opts}
    ]
    assert missing == []
