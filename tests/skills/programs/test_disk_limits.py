"""The files that a program leaves are limited in size, number, depth and hashing time."""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from goalwright_skills import safe_files
from goalwright_skills.programs.executable import ExecutableTool
from goalwright_skills.tools.artifacts import hashed_since, stamps
from goalwright_skills.tools.disk_use import DiskLimits
from tests.skills.workbench import Workbench

if TYPE_CHECKING:
    from pathlib import Path


PLACES = {"scratch": "os.environ['GOALWRIGHT_SCRATCH']", "artifacts": "os.environ['GOALWRIGHT_ARTIFACTS']"}


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return Workbench(tmp_path)


def limited(bench: Workbench, program: str, disk: DiskLimits, **keys: object) -> ExecutableTool:
    tool = bench.tool("import os\n" + program + "\nreply(output='done')\n", writes=True, **keys)
    return ExecutableTool(tool.manifest, replace(tool.host, disk=disk))


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize(
    ("each", "fault"),
    [
        ("f.truncate(100_000_000)", "more than 1,000 MB (`max_artifact_mb`)"),
        ("pass", "more than 50 files (`max_artifact_files`)"),
    ],
)
async def test_tool_exceeding_disk_limits_is_stopped_and_cleaned_up(
    bench: Workbench, place: str, each: str, fault: str
) -> None:
    program = f"for n in range(60):\n    with open(os.path.join({place}, f'f{{n}}'), 'w') as f:\n        {each}\n"
    tool = limited(bench, program, DiskLimits(files=50 if each == "pass" else 10_000))
    started = time.monotonic()

    envelope = await tool.call({})

    assert envelope.error is not None
    assert fault in envelope.error.message
    assert time.monotonic() - started < 20
    assert stamps(bench.artifacts) == {}
    assert list(bench.scratch.iterdir()) == []


async def test_disk_limit_stops_a_tool_before_its_timeout(bench: Workbench) -> None:
    program = "n = 0\nwhile True:\n    n += 1\n"
    program += "    open(os.path.join(os.environ['GOALWRIGHT_SCRATCH'], str(n)), 'w').close()\n"
    started = time.monotonic()

    envelope = await limited(bench, program, DiskLimits(files=500), timeout=60).call({})

    assert envelope.error is not None
    assert "max_artifact_files" in envelope.error.message
    assert time.monotonic() - started < 30


async def test_files_of_earlier_calls_count_and_are_kept(bench: Workbench) -> None:
    bench.artifacts.mkdir(parents=True)
    for number in range(40):
        (bench.artifacts / f"early{number}").write_text("1", encoding="utf-8")
    program = "for n in range(20):\n    open(os.path.join(os.environ['GOALWRIGHT_ARTIFACTS'], f'f{n}'), 'w').close()\n"

    envelope = await limited(bench, program, DiskLimits(files=50)).call({})

    assert envelope.error is not None
    assert len(stamps(bench.artifacts)) == 40


async def test_hidden_files_links_and_folders_are_removed_too(bench: Workbench) -> None:
    (bench.artifacts / "early").mkdir(parents=True)
    for name in ("early/kept", "early/.env.kept"):
        (bench.artifacts / name).write_text("1", encoding="utf-8")
    outside = bench.root / "outside"
    outside.mkdir()
    (outside / "mine").touch()
    program = f"""
os.chdir(os.environ['GOALWRIGHT_ARTIFACTS'])
os.makedirs('.git/objects')
os.symlink({str(outside)!r}, 'early/out')
for n in range(60):
    open(f'.git/objects/{{n}}', 'w').close()
    os.makedirs('early/deep' + '/d' * n, exist_ok=True)
"""
    tool = limited(bench, program, DiskLimits(files=50))
    envelope = await tool.call({})

    assert envelope.error is not None
    assert "max_artifact_files" in envelope.error.message
    left = sorted(path.relative_to(bench.artifacts).as_posix() for path in bench.artifacts.rglob("*"))
    assert left == ["early", "early/.env.kept", "early/kept"]
    assert (outside / "mine").exists()
    assert (await limited(bench, "", DiskLimits(files=50)).call({})).error is None, "the next call has room"


async def test_a_tree_of_three_thousand_folders_in_scratch_is_removed(bench: Workbench) -> None:
    program = (
        "os.chdir(os.environ['GOALWRIGHT_SCRATCH'])\nfor n in range(3000):\n    os.mkdir('d')\n    os.chdir('d')\n"
    )

    envelope = await limited(bench, program, DiskLimits()).call({})

    assert envelope.error is None, envelope.error
    assert list(bench.scratch.iterdir()) == []


def test_tree_removal_does_not_follow_links(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/kept").touch()
    tree = tmp_path / "tree"
    (tree / "closed/inner").mkdir(parents=True)
    (tree / "closed/inner/file").touch()
    (tree / "link").symlink_to(tmp_path / "outside")
    (tree / "closed/link").symlink_to(tmp_path / "outside/kept")
    os.mkfifo(tree / "pipe")
    (tree / "closed").chmod(0)

    safe_files.remove_tree(tree)

    assert not tree.exists()
    assert (tmp_path / "outside/kept").exists()


async def test_hashing_stops_when_the_run_is_cancelled(tmp_path: Path) -> None:
    for number in range(100):
        (tmp_path / f"f{number}").touch()
        os.truncate(tmp_path / f"f{number}", 1_000_000_000)
    hashing = asyncio.create_task(hashed_since(tmp_path, {}))
    await asyncio.sleep(0.3)
    started = time.monotonic()

    hashing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hashing
    await asyncio.get_running_loop().shutdown_default_executor()  # as at the end of a process

    assert time.monotonic() - started < 30, "hashing all of it takes minutes"


@pytest.mark.parametrize("writes", [True, False])
async def test_long_output_is_listed_as_an_artifact(bench: Workbench, writes: bool) -> None:
    envelope = await bench.tool("reply(output='x' * 9000)", writes=writes).call({})

    (row,) = envelope.data["artifacts"]
    assert (row["bytes"], envelope.data["artifact"]) == (9000, str(bench.artifacts / row["path"]))


async def test_long_output_beyond_the_disk_limits_is_not_kept(bench: Workbench) -> None:
    tool = bench.tool("reply(output='x' * 1_100_000)\n")
    full = ExecutableTool(tool.manifest, replace(tool.host, disk=DiskLimits(megabytes=1)))

    envelope = await full.call({})

    assert (envelope.status, envelope.data["artifact"]) == ("partial", None)
    assert envelope.data["not_kept"] == "the run's files would have more than 1 MB (`max_artifact_mb`)"
    assert stamps(bench.artifacts) == {}
    assert (await tool.call({})).data["artifact"] is not None
