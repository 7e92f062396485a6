"""The cached scan: used while it holds, rebuilt when it does not."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

import pytest

from goalwright_skills.discovery.file_stamp import RACY_NS
from goalwright_skills.discovery.index import cache_folder
from goalwright_skills.discovery.registry import Registry
from tests.skills.tree import put

if TYPE_CHECKING:
    from pathlib import Path


def test_a_scan_uses_the_index_and_detects_changes(tmp_path: Path) -> None:
    put(tmp_path / "skills/a", "a", "Old.")
    cache = tmp_path / "cache"

    def fresh() -> Registry:
        return Registry(tmp_path, env={}, home=tmp_path / "home", cache=cache, library=tmp_path / "library")

    before = fresh().list_skills(all=True)
    assert (cache / "listing.json").exists()
    assert fresh().list_skills(all=True) == before
    put(tmp_path / "skills/a", "a", "New.")
    put(tmp_path / "skills/b", "b")
    assert [skill.description for skill in fresh().list_skills()] == ["New.", "Does things."]


@pytest.mark.parametrize("rubbish", [b"", b"{", b"[]", b"null", b'{"version": 1}', b"\xff\xfe", b"[" * 100_000])
def test_a_broken_index_is_rebuilt_silently(tmp_path: Path, rubbish: bytes) -> None:
    put(tmp_path / "skills/a", "a")
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "listing.json").write_bytes(rubbish)
    found = Registry(tmp_path, env={}, home=tmp_path / "home", cache=cache, library=tmp_path / "library")
    assert [skill.name for skill in found.list_skills()] == ["a"]
    assert json.loads((cache / "listing.json").read_bytes())["files"][0]


def test_an_index_with_wrong_types_is_ignored(tmp_path: Path) -> None:
    put(tmp_path / "skills/a", "a")
    cache = tmp_path / "cache"

    def fresh() -> Registry:
        return Registry(tmp_path, env={}, home=tmp_path / "home", cache=cache, library=tmp_path / "library")

    time.sleep(2 * RACY_NS / 1e9)  # until then the file's stamp is not trusted, and the index not asked
    fresh().scan()
    document = json.loads((cache / "listing.json").read_bytes())
    good: list[object] = [[0], ["a"], ["Other."], ["context"], ["active"], [None], [None], [{}]]
    wrongs: list[tuple[int, object]] = [(0, [7]), (0, [None]), (1, []), (2, [1]), (3, ["evil"]), (4, "x"), (7, [[]])]
    for column, wrong in wrongs:
        document["skills"] = [wrong if number == column else value for number, value in enumerate(good)]
        (cache / "listing.json").write_text(json.dumps(document))
        assert [skill.description for skill in fresh().list_skills()] == ["Does things."]


def test_workspaces_with_long_paths_have_separate_caches(tmp_path: Path) -> None:
    paths = [tmp_path / "a-b", tmp_path / "a" / "b", tmp_path / "a%2Fb", tmp_path / ("x" * 250), tmp_path / ("x" * 251)]
    folders = [cache_folder(path) for path in paths]
    assert len(set(folders)) == len(paths)
    assert all(len(os.fsencode(folder.name)) <= 200 for folder in folders)


def test_a_cache_that_cannot_be_written_is_skipped(tmp_path: Path) -> None:
    put(tmp_path / "skills/a", "a")
    (tmp_path / "cache").write_text("a file is in the way")
    found = Registry(tmp_path, env={}, home=tmp_path / "home", cache=tmp_path / "cache", library=tmp_path / "library")
    assert [skill.name for skill in found.list_skills()] == ["a"]
