"""Hidden files of the workspace are hidden from programs in every sandbox."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from goalwright_skills.programs.executable import ExecutableTool
from tests.skills.workbench import WALLS, Workbench, walls

if TYPE_CHECKING:
    from pathlib import Path

READ = """
    import os
    def tried(path):
        try:
            return open(path).read()
        except OSError as error:
            return type(error).__name__
    reply([tried(path) for path in arguments["paths"]])
"""
PATHS = [{"name": "paths", "type": "array", "required": True}]
SECRET = "s3cret"


@pytest.fixture(params=WALLS)
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Workbench:
    bench = Workbench(tmp_path)
    bench.confinement = walls(request.param, bench.home)
    return bench


def put(root: Path, *names: str, text: str = SECRET) -> list[str]:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return list(names)


async def read(bench: Workbench, paths: list[str], **keys: object) -> list[str]:
    envelope = await bench.tool(READ, parameters=PATHS, **keys).call({"paths": paths})
    assert envelope.status == "success", envelope
    found: list[str] = envelope.data["output"]
    return found


async def test_secrets_settings_and_the_journal_cannot_be_read(bench: Workbench) -> None:
    names = put(bench.workspace, ".env", ".env.local", "a/b/c/.ENV", "tls/server.pem", "a/id.KEY", ".git/config",
                "vendor/lib/.git/HEAD", ".mcp.json", "goalwright.toml", "a/goalwright.toml", ".agents/journal.sqlite",
                ".agents/journal.sqlite-wal", ".agents/runs/r0/artifacts/old.txt", "a/.agents/skills/x.txt",
                ".agents/skills/x/.env")  # fmt: skip
    assert SECRET not in await read(bench, names)


async def test_links_to_hidden_files_are_unreadable(bench: Workbench) -> None:
    put(bench.workspace, ".env", ".git/config", "a/b.txt")
    (bench.workspace / "notes.txt").symlink_to(".env")
    (bench.workspace / "a" / "up").symlink_to("../.git")
    (bench.workspace / "around").symlink_to(bench.workspace)
    os.link(bench.workspace / ".env", bench.workspace / "a" / "hard.txt")
    names = ["notes.txt", "a/up/config", "around/.env", "a/hard.txt", "./a/../.env", "/proc/self/cwd/.env"]
    assert SECRET not in await read(bench, names)


async def test_other_files_are_readable(bench: Workbench) -> None:
    names = put(bench.workspace, "a/b/c.txt", "a/top.txt", "readme.md", ".gitignore", ".agents/skills/x/SKILL.md",
                ".agents/sys.skills/y/z.txt", ".claude/settings.json", text="open")  # fmt: skip
    put(bench.workspace, "a/b/.env", ".git/HEAD", ".agents/journal.sqlite")
    put(bench.artifacts, "made.txt", text="open")
    names.append(".agents/runs/r1/artifacts/made.txt")
    assert set(await read(bench, names)) == {"open"}


async def test_the_workspace_can_be_listed(bench: Workbench) -> None:
    put(bench.workspace, ".env", "a/b.txt", "a/.env", ".git/HEAD")
    tool = bench.tool("import os; reply([sorted(os.listdir(p)) for p in ('.', 'a')])")
    top, below = (await tool.call({})).data["output"]
    assert {"a", "skills"} <= set(top)
    assert "b.txt" in below


async def test_program_with_a_hidden_name_runs(bench: Workbench) -> None:
    folder = bench.tool("reply('ran')").manifest.folder
    (folder / "main.py").rename(folder / ".env.py")
    (folder / "skill.yaml").write_text((folder / "skill.yaml").read_text().replace("main.py", ".env.py"))
    (folder / ".env").write_text(SECRET)
    assert (await bench.load(folder).call({})).text == "ran"


async def test_tool_in_agents_skills_sees_its_folder(bench: Workbench) -> None:
    folder = bench.tool("reply(open(__file__.replace('main.py', 'near.txt')).read())").manifest.folder
    (folder / "near.txt").write_text("near")
    moved = bench.workspace / ".agents" / "skills" / "demo"
    moved.parent.mkdir(parents=True)
    folder.rename(moved)
    assert (await bench.load(moved).call({})).text == "near"


async def test_files_created_during_a_run_are_hidden_too(bench: Workbench) -> None:
    tool = bench.tool(READ, parameters=PATHS)
    assert (await tool.call({"paths": [".env"]})).data["output"] == ["FileNotFoundError"]
    put(bench.workspace, ".env", ".agents/journal.sqlite")
    assert SECRET not in (await tool.call({"paths": [".env", ".agents/journal.sqlite"]})).data["output"]


async def test_missing_hidden_file_is_ignored(bench: Workbench) -> None:
    put(bench.workspace, "a/.env", "a/.git/config", "a/b.txt", text="open")
    tool = bench.tool(READ, parameters=PATHS)
    assert (await tool.call({"paths": ["a/b.txt"]})).data["output"] == ["open"]
    (bench.workspace / "a/.env").unlink()
    (bench.workspace / "a/.git").rename(bench.workspace / "a/git")
    assert (await tool.call({"paths": ["a/b.txt"]})).data["output"] == ["open"]


async def test_skill_linked_to_another_project_does_not_expose_it(bench: Workbench) -> None:
    other = bench.home / "other"
    names = [str(other / name) for name in put(other, "secret.txt", "src/main.c", ".env", ".git/config", "../up.txt")]
    tool = bench.tool(READ, parameters=PATHS)
    for part in ("main.py", "skill.yaml"):
        (tool.manifest.folder / part).rename(other / part)
    link = bench.workspace / "skills" / "linked"
    link.symlink_to(other)
    (other / "skill.yaml").write_text((other / "skill.yaml").read_text().replace("demo_run", "linked_run"))
    envelope = await bench.load(link).call({"paths": [*names, str(link / "secret.txt"), str(link / "../../up.txt")]})
    assert envelope.status == "success", envelope
    assert SECRET not in envelope.data["output"]


async def test_skill_linked_to_hidden_files_does_not_expose_them(bench: Workbench) -> None:
    agents = bench.workspace / ".agents"
    put(agents, "journal.sqlite")
    tool = bench.tool(READ, parameters=PATHS)
    for part in ("main.py", "skill.yaml"):
        (tool.manifest.folder / part).rename(agents / part)
    (agents / "skill.yaml").write_text((agents / "skill.yaml").read_text().replace("demo_run", "linked_run"))
    (bench.workspace / "skills" / "linked").symlink_to("../.agents")
    paths = [".agents/journal.sqlite", "skills/linked/journal.sqlite"]
    envelope = await bench.load(bench.workspace / "skills" / "linked").call({"paths": paths})
    assert envelope.status == "success", envelope
    assert SECRET not in envelope.data["output"]


async def test_agents_skills_linked_outside_expose_nothing(bench: Workbench) -> None:
    private = bench.home / "private"
    put(private, "letter.txt")
    (bench.workspace / ".agents").mkdir(parents=True)
    (bench.workspace / ".agents" / "skills").symlink_to(private)
    paths = [".agents/skills/letter.txt", str(private / "letter.txt")]
    assert SECRET not in await read(bench, paths)


async def test_workspace_with_two_paths_is_hidden_under_both(bench: Workbench, tmp_path: Path) -> None:
    put(bench.workspace, ".env")
    tool = bench.tool(READ, parameters=PATHS)
    alias = tmp_path / "alias"
    alias.symlink_to(bench.home)
    linked = ExecutableTool(tool.manifest, replace(tool.host, workspace=alias / "project"))
    paths = [str(alias / "project" / ".env"), str(bench.workspace / ".env"), ".env"]
    assert SECRET not in (await linked.call({"paths": paths})).data["output"]


async def test_many_hidden_and_visible_files_are_handled(bench: Workbench) -> None:
    put(bench.workspace, *(f"keys/{n}.pem" for n in range(150)), *(f"keys/{n}.txt" for n in range(1500)))
    found = await read(bench, ["keys/0.pem", "keys/149.pem", "keys/7.txt", "keys/1499.txt"])
    assert [one == SECRET for one in found] == [False, False, True, True]
