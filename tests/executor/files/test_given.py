"""The files that each task gets, and the omissions that are reported."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest

from goalwright_executor.files.given import GivenFiles
from goalwright_planner.events import FilePart, FileRead, Warned
from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import Task
from goalwright_planner.prompting.profile import profiles
from goalwright_skills.tools.envelope import Context
from tests.fakes import Recorder

if TYPE_CHECKING:
    from pathlib import Path

SMALL = replace(profiles()["small"], file_tokens=200, file_parts=4)
FIRST = Task("t1", "llm", instruction="List the risks")
SECOND = Task("t2", "llm", instruction="Write an email about them", depends_on=("t1",))


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "work" / "report.txt"
    path.parent.mkdir()
    path.write_text("The lift costs 4,210 euros.", encoding="utf-8")
    return path


def files(*paths: Path, record: Recorder | None = None, **more: object) -> GivenFiles:
    given = GivenFiles(tuple(map(str, paths)), paths[0].parent, record or Recorder(), lambda text: text)
    for name, value in more.items():
        setattr(given, name, value)
    return given


def long(path: Path, paragraphs: int = 30) -> Path:
    path.write_text(
        "\n".join(f"Paragraph {number}: nothing of note happened on that day." for number in range(paragraphs))
        + "\nThe secret word is marmalade.",
        encoding="utf-8",
    )
    return path


def test_task_gets_named_files_or_all_if_it_has_no_dependencies(report: Path) -> None:
    other = report.with_name("other.md")
    given = files(report, other)
    both = (str(report), str(other))
    assert given.wanted_by(FIRST) == both
    assert given.wanted_by(SECOND) == ()
    assert given.wanted_by(msgspec.structs.replace(SECOND, instruction="Compare with other.md")) == both[1:]
    assert given.wanted_by(msgspec.structs.replace(FIRST, instruction=f"Read {report}")) == both[:1]
    assert given.wanted_by(msgspec.structs.replace(SECOND, instruction="Check it against the files")) == both


async def test_file_that_fits_is_read_whole_and_recorded(report: Path) -> None:
    record = Recorder()
    given = files(report, record=record)
    (read,) = await given.take(FIRST, Plan((FIRST, SECOND)), "List the risks", SMALL)
    assert record.events == [read]
    assert (read.inline, read.of, read.parts) == (True, 1, (FilePart(1, "The lift costs 4,210 euros."),))
    assert given.not_read([]) == []


async def test_relevant_passages_of_long_file_are_read_and_omissions_reported(report: Path) -> None:
    record = Recorder()
    given = files(long(report, 100), record=record)
    task = msgspec.structs.replace(FIRST, instruction="What is the secret word?")
    (read,) = await given.take(task, Plan((task,)), "What is the secret word?", SMALL)
    assert read.inline
    assert [part.number for part in read.parts] == [read.of]
    assert "marmalade" in read.parts[0].text
    assert "1 of" in str(record.of(Warned))
    (line,) = given.not_read([])
    assert line == f"report.txt: 1 of {read.of} parts were read, of {read.characters:,} characters in all"


async def test_task_about_whole_long_file_reads_parts_one_by_one(report: Path) -> None:
    given = files(long(report, 200))
    task = msgspec.structs.replace(FIRST, instruction="Sum it up")
    (read,) = await given.take(task, Plan((task,)), "Sum it up", SMALL)
    assert not read.inline
    assert len(read.parts) == 4 < read.of
    assert (read.parts[0].number, read.parts[-1].number) == (1, read.of)


async def test_tasks_share_the_number_of_parts_and_all_reads_count(report: Path) -> None:
    given = files(long(report, 60))
    tasks = tuple(msgspec.structs.replace(FIRST, id=f"t{at}", instruction="Sum it up") for at in (1, 2))
    for task in tasks:
        await given.take(task, Plan(tasks), "Sum it up", SMALL)
    assert {len(read.parts) for read in given.reads.values()} == {2}
    of = next(iter(given.reads.values())).of
    assert given.not_read([])[0].startswith(f"report.txt: 2 of {of} parts were read")


async def test_every_long_file_gets_a_part(report: Path) -> None:
    other = long(report.with_name("other.txt"), 60)
    task = msgspec.structs.replace(FIRST, instruction="Sum them up")
    reads = await files(long(report, 60), other).take(task, Plan((task,)), "Sum them up", SMALL)
    assert [len(read.parts) for read in reads] == [2, 2]


async def test_passages_come_from_matching_files(report: Path) -> None:
    other = long(report.with_name("other.txt"), 60)
    report.write_text("Nothing here.\n" * 200, encoding="utf-8")
    task = msgspec.structs.replace(FIRST, instruction="What is the secret word?")
    given = files(report, other)
    reads = await given.take(task, Plan((task,)), "", SMALL)
    assert [len(read.parts) for read in reads] == [0, 1]
    assert given.not_read([])[0].startswith("report.txt: 0 of")


async def test_unreadable_files_are_reported_with_reason(report: Path) -> None:
    binary = report.with_name("photo.png")
    binary.write_bytes(b"\x89PNG\0\0")
    given = files(report, binary, report.with_name("gone.txt"))
    reads = await given.take(FIRST, Plan((FIRST,)), "List the risks", SMALL)
    assert [bool(read.error) for read in reads] == [False, True, True]
    first, second = given.not_read([])
    assert first.startswith("photo.png: it is not a text file")
    assert second == "gone.txt: it no longer exists"


@pytest.mark.parametrize(
    ("call", "read"),
    [
        (Context("/w", {"path": "report.txt"}), True),
        (Context("/w", {"path": "./a/report.txt"}), True),
        (Context("/w", {"command": ["cat", "report.txt | wc"]}), True),
        (Context("/w", {"path": "."}), False),
        (Context("/w", {"path": "old-report.txt"}), False),
        (Context("/w", {"path": "report.txt.bak"}), True),
    ],
)
def test_file_passed_to_a_tool_counts_as_read(report: Path, call: Context, read: bool) -> None:
    assert files(report).not_read([call]) == ([] if read else ["report.txt: no task read it"])
    assert files(report).not_read([Context("/w", {}, str(report))]) == []


async def test_recorded_read_is_reused_and_changed_file_reported(report: Path) -> None:
    told: list[str] = []
    live = files(report)
    (read,) = await live.take(FIRST, Plan((FIRST,)), "List the risks", SMALL)

    async def again(path: Path) -> list[FileRead]:
        moved = msgspec.structs.replace(read, path=str(path))
        record = Recorder()
        given = GivenFiles(
            (str(path),),
            report.parent,
            record,
            str,
            {("t1", str(path)): moved},
            lambda _, what: told.append(what),
        )
        assert record.events == []
        return await given.take(FIRST, Plan((FIRST,)), "List the risks", SMALL)

    assert await again(report) == [read]
    assert told == []
    report.write_text("Other", encoding="utf-8")
    assert (await again(report))[0].parts == read.parts
    assert told.pop() == "the file 'report.txt' of task 't1' has changed since it was read"
    report.unlink()
    await again(report)
    assert told.pop() == "the file 'report.txt' of task 't1' can no longer be read"
    await again(report.parent.parent / "outside.txt")
    assert told == [], "a file outside the workspace may be missing elsewhere"
