"""Before anyone trusts a checkout, no file in it can stop a command: each ends soon, with an error that says why."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.nursery import Nursery, Ran

    Goalwright = Callable[..., Ran]

PLAN = "tasks:\n  - {id: a, action_type: tool, name: excel_info, arguments: {path: none.xlsx}}\n"
SKILL = "---\nname: ok\ndescription: Says hello. Use when greeting.\n---\nHello.\n"
# Enough for goalwright, and too little for a file that never ends.
MEMORY = 6 * 1024**3
SECONDS = 30  # of CPU time: other work on the machine does not count
HANGS = 120


def zero(path: Path) -> None:
    path.symlink_to("/dev/zero")


def pipe(path: Path) -> None:
    os.mkfifo(path)


def sparse(path: Path) -> None:
    path.touch()
    os.truncate(path, 200 * 1024**3)


def environment(path: Path) -> None:
    path.symlink_to("/proc/self/environ")


def nested(path: Path) -> None:
    lists = "[" * 20_000 + "]" * 20_000
    path.write_text(lists if path.suffix == ".json" else f"a = {lists}" if path.suffix == ".toml" else f"a: {lists}")


@pytest.fixture
def goalwright(nursery: Nursery) -> Goalwright:
    """`goalwright` in a folder, with as much memory as it needs, and 30 seconds of its own."""

    def run(workspace: Path, *arguments: str) -> Ran:
        limited = (
            "import resource, runpy, sys\n"
            f"resource.setrlimit(resource.RLIMIT_AS, ({MEMORY}, {MEMORY}))\n"
            f"resource.setrlimit(resource.RLIMIT_CPU, ({SECONDS}, {SECONDS}))\n"
            f"sys.argv = ['goalwright', *{list(arguments)!r}]\n"
            "runpy.run_module('goalwright', run_name='__main__')"
        )
        return nursery.run_python(["-c", limited], cwd=workspace, timeout=HANGS)

    return run


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    workspace = tmp_path / "checkout"
    (workspace / "skills/ok").mkdir(parents=True)
    (workspace / ".agents").mkdir()
    (workspace / "skills/ok/SKILL.md").write_text(SKILL)
    (workspace / "plan.yaml").write_text(PLAN)
    return workspace


SKILLS, MCP, RUN = ("skills", "list", "--json"), ("mcp", "list"), ("run", "--plan", "plan.yaml", "-q")
# What reads each file.
READERS = {
    "goalwright.toml": (SKILLS, ("trace", "list"), MCP, RUN),
    "skills/ok/skill.yaml": (SKILLS, RUN),
    ".mcp.json": (MCP, RUN),
    ".agents/skills.lock": (("skills", "update"),),
    "plan.yaml": (RUN,),
}


@pytest.mark.parametrize("made", [zero, pipe, sparse, environment, nested])
@pytest.mark.parametrize("name", READERS)
def test_no_file_of_a_checkout_stops_a_command(
    goalwright: Goalwright, checkout: Path, name: str, made: Callable[[Path], None]
) -> None:
    (checkout / name).unlink(missing_ok=True)
    made(checkout / name)

    for command in READERS[name]:
        ended = goalwright(checkout, *command)

        assert "Traceback" not in ended.err, command
        assert ended.status in (0, 1, 2, 4), (command, ended.err)
        if ended.status in (2, 4):
            assert name.rpartition("/")[2] in ended.err or "journal" in ended.err, (command, ended.err)


@pytest.mark.parametrize("made", [zero, pipe])
@pytest.mark.parametrize("name", ["journal.sqlite", "journal.sqlite-wal", ".gitignore"])
def test_goalwright_s_own_files_are_refused_where_they_are_not_files(
    goalwright: Goalwright, checkout: Path, name: str, made: Callable[[Path], None]
) -> None:
    made(checkout / ".agents" / name)

    ended = goalwright(checkout, "run", "--plan", "plan.yaml", "-q")

    assert ended.status == 2
    assert f"{name} is " in ended.err


@pytest.mark.parametrize("link", ["skills/kernel", ".skills", ".claude/skills"])
@pytest.mark.parametrize("target", ["/proc", "/sys", "/dev"])
def test_a_link_into_a_folder_of_the_kernel_is_not_followed(
    goalwright: Goalwright, checkout: Path, link: str, target: str
) -> None:
    (checkout / link).parent.mkdir(exist_ok=True)
    (checkout / link).symlink_to(target)

    ended = goalwright(checkout, "skills", "list", "--json", "--all")

    assert ended.status == 0
    assert "ok" in [row["name"] for row in json.loads(ended.out)]
    assert "leads to a folder of the kernel" in ended.err


def test_a_location_that_links_to_a_folder_above_it_is_not_walked(goalwright: Goalwright, checkout: Path) -> None:
    (checkout / ".skills").symlink_to("/")

    ended = goalwright(checkout, "skills", "list", "--json")

    assert [row["source"] for row in json.loads(ended.out) if row["name"] == "ok"] == ["project"]


def test_the_environment_of_goalwright_cannot_pass_for_a_skill(goalwright: Goalwright, checkout: Path) -> None:
    (checkout / "skills/spy").mkdir()
    environment(checkout / "skills/spy/SKILL.md")

    ended = goalwright(checkout, "skills", "list", "--json", "--all")

    assert "it leads to a file of the kernel" in ended.err


@pytest.mark.parametrize("made", [zero, pipe])
def test_a_goal_file_that_never_ends_is_refused(
    goalwright: Goalwright, checkout: Path, made: Callable[[Path], None]
) -> None:
    made(checkout / "goals.jsonl")

    ended = goalwright(checkout, "batch", "goals.jsonl", "-o", "out.jsonl", "-q")

    assert ended.status == 2
    assert "goals.jsonl cannot be read" in ended.err
