"""Grep, and ListFiles with a glob: matches, and hostile patterns and paths."""

from __future__ import annotations

import os
import re
import time
import warnings
from typing import TYPE_CHECKING, Any

import pytest

from goalwright_skills import hidden_paths
from goalwright_skills.builtin.read_file import ReadFile
from goalwright_skills.builtin.readable_roots import ReadableRoots
from goalwright_skills.builtin.search import grep as grep_module
from goalwright_skills.builtin.search import walk
from goalwright_skills.builtin.search.glob import BadGlob, Glob
from goalwright_skills.builtin.search.grep import Grep
from goalwright_skills.builtin.search.list_files import ListFiles
from goalwright_skills.tools import artifacts
from tests.growth import growth

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_skills.tools.envelope import Envelope


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    for name, text in {
        "a.py": "import os\nprint('Hello')\n",
        "src/b.py": "def hello():\n    return 1\n",
        "src/deep/c.ts": "// hello\r\n",
        "src/.env": "hello=SECRET",
        ".git/config": "hello",
        ".agents/journal.txt": "hello",
        "node_modules/x/y.py": "hello",
        "image.png": "hello\0",
    }.items():
        put(work / name, text)
    put(tmp_path / "outside.py", "hello SECRET")
    (work / "link.py").symlink_to(tmp_path / "outside.py")
    (work / "up").symlink_to(tmp_path)
    return work


async def grep(workspace: Path, pattern: Any, **more: Any) -> Envelope:
    return await Grep(ReadableRoots(workspace)).call({"pattern": pattern, **more})


async def files(workspace: Path, glob: Any, path: str = ".") -> Envelope:
    return await ListFiles(ReadableRoots(workspace)).call({"path": path, "glob": glob})


async def test_matches_have_file_and_line_and_hidden_files_are_skipped(workspace: Path) -> None:
    found = await grep(workspace, "(?i)hello")
    assert found.text.splitlines() == [
        "a.py:2: print('Hello')",
        "src/b.py:1: def hello():",
        "src/deep/c.ts:1: // hello",
    ]
    assert found.data["matches"][1] == {"path": "src/b.py", "line": 1, "text": "def hello():"}
    assert (await grep(workspace, "hello", glob="*.ts")).data["total"] == 1
    assert (await grep(workspace, "hello", path="src/b.py")).data["files"] == 1
    assert (await grep(workspace, "hello", path="node_modules")).data["total"] == 1, "a path that names it"
    assert (await grep(workspace, "no such thing")).text == "(no matches)"


@pytest.mark.parametrize("hidden", ["src/.env", ".git/config", ".agents/journal.txt"])
async def test_hard_link_to_a_hidden_file_is_not_searched(workspace: Path, hidden: str) -> None:
    os.link(workspace / hidden, workspace / "notes.txt")
    os.link(workspace / "a.py", workspace / "again.py")
    hidden_paths._hidden_files.cache_clear()

    assert "notes.txt" not in (await grep(workspace, "hello")).text
    assert (await grep(workspace, "hello", path="notes.txt")).data.get("total", 0) == 0
    assert (await grep(workspace, "Hello", path="again.py")).data["total"] == 1
    reading = ReadFile(ReadableRoots(workspace))
    refused = (await reading.call({"path": "notes.txt"})).error
    assert refused is not None
    assert refused.code == "ACCESS_DENIED"


async def test_hard_link_to_a_skills_file_is_searched(workspace: Path) -> None:
    put(workspace / ".agents/skills/a/SKILL.md", "hello\n")
    os.link(workspace / ".agents/skills/a/SKILL.md", workspace / "notes.txt")
    hidden_paths._hidden_files.cache_clear()

    assert (await grep(workspace, "hello", path="notes.txt")).data["total"] == 1
    assert (await grep(workspace, "hello", path=".agents/skills/a/SKILL.md")).data["total"] == 1


async def test_extra_matches_are_counted_and_long_lines_truncated(workspace: Path) -> None:
    put(workspace / "many.txt", "x" * 5_000 + "needle" + "x" * 5_000 + "\n" + "needle\n" * 500)
    found = await grep(workspace, "needle", limit=3)
    assert (found.status, len(found.data["matches"]), found.data["total"]) == ("partial", 3, 501)
    assert "needle" in found.data["matches"][0]["text"]
    assert len(found.data["matches"][0]["text"]) < 400
    assert "498 more matches" in found.text


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"pattern": "("}, "INVALID_PARAM"),
        ({"pattern": ""}, "INVALID_PARAM"),
        ({"pattern": 7}, "INVALID_PARAM"),
        ({"pattern": "a", "glob": "../*"}, "INVALID_PARAM"),
        ({"pattern": "a", "glob": 1}, "INVALID_PARAM"),
        ({"pattern": "a", "limit": 0}, "INVALID_PARAM"),
        ({"pattern": "a", "path": "../outside.py"}, "ACCESS_DENIED"),
        ({"pattern": "a", "path": "link.py"}, "ACCESS_DENIED"),
        ({"pattern": "a", "path": "up"}, "ACCESS_DENIED"),
        ({"pattern": "a", "path": "src/.env"}, "ACCESS_DENIED"),
        ({"pattern": "a", "path": ".git"}, "ACCESS_DENIED"),
        ({"pattern": "a", "path": "/proc/self/environ"}, "ACCESS_DENIED"),
        ({"pattern": "a", "path": "missing"}, "NOT_FOUND"),
    ],
)
async def test_invalid_searches_are_refused(workspace: Path, arguments: dict[str, Any], code: str) -> None:
    found = await Grep(ReadableRoots(workspace)).call(arguments)
    assert found.error is not None
    assert found.error.code == code
    assert "SECRET" not in found.to_json()


async def test_catastrophic_backtracking_is_stopped_by_cpu_time(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grep_module, "SECONDS", 0.2)
    put(workspace / "trap.txt", "a" * 60 + "!\n" + "b" * 100_000)
    found = await grep(workspace, r"^(a+)+$")
    assert found.error is not None
    assert found.error.code == "TIMEOUT"
    assert "without nested repetition" in found.text
    assert (await grep(workspace, "a!")).data["total"] == 1, "and the next search works"


async def test_a_search_is_bounded_in_files_and_bytes(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grep_module, "FILE_LIMIT", 100)
    put(workspace / "large.txt", "hello " * 100)
    found = await grep(workspace, "hello")
    assert (found.status, found.data["total"]) == ("partial", 2)
    assert "are not searched: 1" in found.text
    monkeypatch.setattr(walk, "MOST_ENTRIES", 2)
    monkeypatch.setattr(walk.Walk.__init__, "__defaults__", (2,))
    assert "not all" in (await grep(workspace, "hello")).text


async def test_search_depth_is_limited(workspace: Path) -> None:
    put(workspace / ("d/" * 101) / "lost.py", "hello")
    put(workspace / ("e/" * 100) / "found.py", "hello")
    put(workspace / "a\nb", "x")
    assert "not all" in (await grep(workspace, "hello")).text
    assert "not all" in (await files(workspace, "*.py")).text
    left = sorted(artifacts.stamps(workspace))
    assert left == ["a.py", "e/" * 100 + "found.py", "image.png", "node_modules/x/y.py", "src/b.py", "src/deep/c.ts"]


async def test_pattern_is_compiled_in_the_worker(workspace: Path) -> None:
    pattern = "(?i)" + "".join(rf"[{chr(65 + at)}-\U0010ffff]" for at in range(10)) + "[[a]"
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (await grep(workspace, pattern)).error is None
    searched = time.process_time()
    with pytest.warns(FutureWarning):
        re.compile(pattern)
    assert searched - began < (time.process_time() - searched) / 2, "compiled here, it would hold all other tasks"


@pytest.mark.parametrize(
    ("glob", "expected"),
    [
        ("*.py", ["a.py", "src/b.py"]),
        ("src/**", ["src/b.py", "src/deep/c.ts"]),
        ("**/*.ts", ["src/deep/c.ts"]),
        ("src/*.py", ["src/b.py"]),
        ("**/deep/", ["src/deep/c.ts"]),
        ("[ab].?y", ["a.py", "src/b.py"]),
        ("[!a].py", ["src/b.py"]),
        (".env", []),
        ("*.rs", []),
    ],
)
async def test_glob_lists_files_in_any_folder(workspace: Path, glob: str, expected: list[str]) -> None:
    found = await files(workspace, glob)
    assert found.data["entries"] == expected
    assert found.text == ("\n".join([*expected, ""]) if expected else "(no file matches)")


async def test_listing_without_glob_has_sizes_and_folders(workspace: Path) -> None:
    assert "src/" in (await files(workspace, None)).data["entries"]
    assert (await files(workspace, "*", "a.py")).error is not None


def test_hostile_glob_takes_polynomial_time() -> None:
    def matched(count: int) -> None:
        assert not Glob.of("*a" * count + "b").matches("a" * 2 * count)
        assert not Glob.of("**/" * count + "x").matches("/".join("a" * 2 * count))

    assert growth(matched, 40, 160) < 2.5, "the product of both lengths is their square"
    for wrong in ("", "/etc/*", "a/../b", "x" * 501):
        with pytest.raises(BadGlob):
            Glob.of(wrong)
