"""The commands that need no model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from goalwright_executor.journal.journal import Journal
from goalwright_executor.stores.urls import url_of
from tests.conftest import add_skill, trust
from tests.nursery import Nursery, Ran

Goalwright = Callable[..., Ran]


def test_help_has_examples(goalwright: Goalwright) -> None:
    for command in ((), ("run",), ("plan",), ("skills",)):
        ran = goalwright(*command, "--help")
        assert ran.status == 0
        assert "Examples:" in ran.out


ONE_BY_ONE = """if True:
    import sys
    from goalwright.interfaces.cli.main import main
    commands, heavy = {}, {}
    for command in commands:
        try:
            main(command.split())
        except SystemExit as end:
            print(command, end.code, [name for name in heavy if name in sys.modules], file=sys.stderr)
"""


def loaded(workspace: Path, commands: list[str], *heavy: str) -> list[str]:
    """Commands one after the other in a fresh process: the status of each, and which packages are loaded by then."""
    program = [sys.executable, "-c", ONE_BY_ONE.format(commands, heavy)]
    done = subprocess.run(program, cwd=workspace, capture_output=True, text=True, check=False)
    return [line for line in done.stderr.splitlines() if line.startswith(tuple(commands))]


def test_what_needs_no_model_never_loads_litellm(workspace: Path) -> None:
    commands = ["--help", "run --help", "skills list", "doctor"]
    assert [line.split(" ")[-1] for line in loaded(workspace, commands, "litellm")] == ["[]"] * 4


def test_looking_at_recorded_runs_loads_nothing_that_runs_goals(workspace: Path) -> None:
    Journal(url_of(workspace / ".agents" / "journal.sqlite")).close()
    heavy = (
        "litellm",
        "networkx",
        "jinja2",
        "asyncio",
        "http.client",
        "psycopg",
        "goalwright.runs",
        "goalwright_planner.small_models",
    )
    found = loaded(workspace, ["trace list", "journal status"], *heavy)
    assert found == ["trace list 0 []", "journal status 0 []"]


def test_selecting_skills_loads_nothing_that_runs_goals(workspace: Path) -> None:
    heavy = (
        "litellm",
        "networkx",
        "jinja2",
        "asyncio",
        "http.client",
        "yaml",
        "goalwright.models",
        "goalwright_planner.prompting",
    )
    found = loaded(
        workspace, ["skills list", "skills select documentation", "skills select documentation --why"], *heavy
    )
    assert len(found) == 3
    assert all(line.endswith(" 0 []") for line in found), found


def test_importing_goalwright_loads_no_heavy_packages(tmp_path: Path) -> None:
    code = "import sys, goalwright; print([m for m in ('litellm', 'networkx', 'jinja2', 'rich') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


FIRST_CALL = """
import asyncio, os, sys
from goalwright import Goalwright
from goalwright.interfaces.cli import execution, model_download
from goalwright.interfaces.cli.dialogs import plan_review

class Model:
    name = "openai/test-model"

    async def complete(self, request):
        local = "goalwright.models.local.model", "goalwright.models.local.serving.server"
        heavy = "litellm", "networkx", "httpx", *local
        print([name for name in heavy if name in sys.modules], flush=True)
        os._exit(0)

model_download.offer([Model.name], yes=False, quiet=False)
asyncio.run(Goalwright(".", {"model": Model.name}, open_model=lambda name: Model()).run("Say hi"))
"""


def test_the_first_call_of_a_run_waits_for_no_package_that_it_does_not_need(workspace: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FIRST_CALL], cwd=workspace, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


def test_skills_list_has_the_contracts_fields(workspace: Path, goalwright: Goalwright) -> None:
    add_skill(workspace, "broken", "no frontmatter here")
    ran = goalwright("skills", "list", "--json", "--workspace", str(workspace))
    rows = {row["name"]: row for row in json.loads(ran.out)}
    folder = workspace / "skills" / "cataloging-apis"
    assert rows["cataloging-apis"] == {
        "name": "cataloging-apis",
        "description": "Write API documentation. Catalogs the endpoints of a service with parameters and answers.",
        "path": str(folder / "SKILL.md"),
        "base_dir": str(folder),
        "source": "project",
        "kind": "context",
        "state": "active",
        "reason": None,
    }
    assert "broken" in ran.err
    everything = json.loads(goalwright("skills", "list", "--json", "--all", "--workspace", str(workspace)).out)
    assert any(row["state"] == "broken" and row["reason"] for row in everything)


def test_skills_select_says_which_how_well_and_why(workspace: Path, goalwright: Goalwright) -> None:
    ran = goalwright("skills", "select", "--json", "Write the API documentation", cwd=workspace)
    document = json.loads(ran.out)
    assert document["goal"] == "Write the API documentation"
    first = document["selected"][0]
    assert first["name"] == "cataloging-apis"
    assert 0 < first["score"] <= 1
    assert "documentation" in first["reason"]
    assert "No skill fits" in goalwright("skills", "select", "Bake a sourdough loaf", cwd=workspace).err
    assert "cataloging-apis" in goalwright("skills", "select", "Write the API documentation", cwd=workspace).out


def test_skills_show_prints_what_a_task_receives(workspace: Path, goalwright: Goalwright) -> None:
    ran = goalwright("skills", "show", "cataloging-apis", "--args", "GET only", cwd=workspace)
    assert ran.out.startswith(f"Base directory for this skill: {workspace / 'skills' / 'cataloging-apis'}")
    assert "Focus on: GET only" in ran.out
    assert (
        "cataloging-apis"
        in json.loads(goalwright("skills", "show", "cataloging-apis", "--json", cwd=workspace).out)["name"]
    )
    ran = goalwright("skills", "show", "catalog", "--json", cwd=workspace)
    assert ran.status == 2
    assert "cataloging-apis" in json.loads(ran.out)["error"]["message"]
    ran = goalwright("skills", "show", "excel_read", cwd=workspace)
    assert (ran.status, "'excel_read' is a tool" in ran.err, "goalwright skills call excel_read" in ran.err) == (
        2,
        True,
        True,
    )


def test_a_closed_stdout_is_no_failure(workspace: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "goalwright", "skills", "list"]
    ran = subprocess.run(command, cwd=workspace, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_closed_stdout_does_not_change_the_exit_status(workspace: Path, nursery: Nursery, form: list[str]) -> None:
    add_skill(workspace, "broken", "no frontmatter")
    for arguments in (["skills", "check"], ["skills", "call", "ReadFile", "{}"]):
        read, write = os.pipe()
        os.close(read)
        with nursery.start(
            ["-m", "goalwright", *arguments, *form], cwd=workspace, stdout=write, stderr=subprocess.DEVNULL
        ) as process:
            os.close(write)
            assert (process.wait(120), arguments) == (1, arguments)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("arguments", [["skills", "list", "--json"], ["resume", "nothing", "--json"]])
def test_a_log_on_a_full_disk_changes_neither_what_is_printed_nor_the_exit_status(
    workspace: Path, nursery: Nursery, arguments: list[str]
) -> None:
    add_skill(workspace, "broken", "no frontmatter")  # warned of
    whole = nursery.run(arguments, cwd=workspace)
    assert whole.err
    with Path("/dev/full").open("w") as full:
        process = nursery.start(["-m", "goalwright", *arguments], cwd=workspace, stdout=subprocess.PIPE, stderr=full)
        out, _ = process.communicate(120)
    assert (process.returncode, out) == (whole.status, whole.out)


def test_doctor_says_what_is_missing_and_what_to_do(workspace: Path, goalwright: Goalwright) -> None:
    ran = goalwright("doctor", cwd=workspace)
    for text in ("no model set", "provider key: none set", "Ollama: not running", "goalwright models pull"):
        assert text in ran.out
    ran = goalwright(
        "doctor", "--json", cwd=workspace, env={"GOALWRIGHT_MODEL": "openai/x", "OPENAI_API_KEY": "sk-very-secret"}
    )
    assert ran.status == 0, ran.out
    findings = json.loads(ran.out)
    topics = {one["topic"] for one in findings}
    assert {"goalwright", "packages", "model", "keys", "settings", "skills", "prompts", "sandbox", "store"} <= topics
    assert "sk-very-secret" not in ran.out
    assert any(one["found"] == "OPENAI_API_KEY" for one in findings)


def test_doctor_shows_the_settings_in_force_and_where_each_comes_from(workspace: Path, goalwright: Goalwright) -> None:
    (workspace / "goalwright.toml").write_text("max_tasks = 7\ntimeout = 5\nunsafe_tools = true\n", encoding="utf-8")
    env = {"GOALWRIGHT_MODEL": "openai/x", "OPENAI_API_KEY": "sk-very-secret", "GOALWRIGHT_TIMEOUT": "9"}
    ran = goalwright("doctor", cwd=workspace, env=env)
    assert ran.status == 0, ran.out  # goals run, without the settings of an untrusted workspace
    for text in (
        "model = openai/x (from environment)",
        "timeout = 9.0 (from environment)",
        f"max_tasks = 7 (from {workspace / 'goalwright.toml'})",
        "'unsafe_tools' is ignored",
        f"ok  settings  {workspace / 'goalwright.toml'}: read",
    ):
        assert text in ran.out


def test_doctor_finds_a_template_that_lacks_a_variable(workspace: Path, goalwright: Goalwright) -> None:
    seed = workspace / ".agents" / "seed"
    seed.mkdir(parents=True)
    (seed / "task.j2").write_text("<% block system %><% endblock %><% block user %><% endblock %>", encoding="utf-8")
    ran = goalwright("doctor", cwd=workspace)
    assert f"{seed}: these templates are ignored, because this workspace is not trusted" in ran.out
    assert "all templates are valid" in ran.out
    trust(workspace)
    ran = goalwright("doctor", cwd=workspace)
    assert "lacks <<goal>>, <<instruction>>, <<results>>" in ran.out


def test_completion_installs_once_with_one_command(goalwright: Goalwright, own_home: Path) -> None:
    (own_home / ".bashrc").write_text("alias x=y", encoding="utf-8")
    for _ in range(2):
        assert goalwright("completion", env={"SHELL": "/bin/bash"}).status == 0
    lines = (own_home / ".bashrc").read_text(encoding="utf-8").splitlines()
    assert lines == ["alias x=y", 'eval "$(_GOALWRIGHT_COMPLETE=bash_source goalwright)"']
    assert goalwright("completion", "--print", "fish").out.startswith("_GOALWRIGHT_COMPLETE=fish_source")
    assert goalwright("completion", env={"SHELL": "/bin/nonsense"}).status == 2


def test_an_unwritable_folder_is_reported_without_a_traceback(workspace: Path, goalwright: Goalwright) -> None:
    (workspace / ".agents").write_text("in the way", encoding="utf-8")
    ran = goalwright("skills", "new", "x", "--description", "y", "--json", cwd=workspace)
    assert ran.status == 2
    assert "error" in json.loads(ran.out)
    assert "Traceback" not in ran.err
    ran = goalwright("trace", "list", "--json", cwd=workspace / "skills")
    assert (ran.status, json.loads(ran.out)) == (0, [])


def test_doctor_checks_the_rest_even_if_settings_are_broken(workspace: Path, goalwright: Goalwright) -> None:
    (workspace / "goalwright.toml").write_text("model = ", encoding="utf-8")
    ran = goalwright("doctor", cwd=workspace)
    assert ran.status == 4
    assert "!!  settings" in ran.out
    assert "sandbox" in ran.out
    ran = goalwright("doctor", cwd=workspace, env={"GOALWRIGHT_MODEL": "openai/x", "OPENAI_API_KEY": "sk-very-secret"})
    assert "model = openai/x (from environment)" in ran.out
    assert "no model set" not in ran.out
    ran = goalwright("doctor", cwd=workspace, env={"GOALWRIGHT_TIMEOUT": "soon"})
    assert ("'timeout' must be a number" in ran.out, ran.status) == (True, 4)


def test_a_file_without_a_run_is_not_replayed(workspace: Path, goalwright: Goalwright) -> None:
    for name, text in (("garbage.jsonl", "garbage"), ("empty.jsonl", ""), ("object.jsonl", "{}")):
        (workspace / name).write_text(text, encoding="utf-8")
        for how in (["--strict"], ["--select", "--check"], []):
            ran = goalwright("replay", name, *how, "--json", cwd=workspace)
            assert ran.status == 2, (name, how, ran.out)
            assert "error" in json.loads(ran.out)
