"""Entry points, read from the files of installed packages."""

from __future__ import annotations

import importlib.metadata
import os
from typing import TYPE_CHECKING

import pytest

from goalwright_skills.functions.entry_points import EntryPoint, entry_points, parse

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """
[console_scripts]
a_tool = other:main

[goalwright.tools]
# a comment
a_tool = some.module:Thing.method [extra]
b_tool=some.module
not a point
"""


def test_only_the_requested_group_is_read() -> None:
    assert list(parse(TEXT, "goalwright.tools", "p")) == [
        EntryPoint("a_tool", "some.module:Thing.method", "p"),
        EntryPoint("b_tool", "some.module", "p"),
    ]
    assert list(parse(TEXT, "goalwright.detectors")) == []


def test_a_point_is_loaded_by_module_and_attribute() -> None:
    assert EntryPoint("x", "os:path.join", "").load() is __import__("os").path.join
    assert EntryPoint("x", "os.path", "").load() is __import__("os").path
    with pytest.raises(AttributeError):
        EntryPoint("x", "os:nothing", "").load()


def test_the_first_package_of_a_name_counts_and_unreadable_ones_are_skipped(tmp_path: Path) -> None:
    for folder, value in (("one", "first:f"), ("two", "second:f")):
        package = tmp_path / folder / "My_Tools-1.0.dist-info"
        package.mkdir(parents=True)
        (package / "entry_points.txt").write_text(f"[goalwright.tools]\nx_tool = {value}\n")
    (tmp_path / "two/latin-1.0.dist-info").mkdir()
    (tmp_path / "two/latin-1.0.dist-info/entry_points.txt").write_bytes(b"[goalwright.tools]\n\xff = a:b\n")
    (tmp_path / "two/bare-1.0.dist-info").mkdir()
    path = [str(tmp_path / name) for name in ("missing", "one", "two")]
    assert entry_points("goalwright.tools", path) == [EntryPoint("x_tool", "first:f", "my-tools")]


def test_packages_installed_later_are_found(tmp_path: Path) -> None:
    def install(package: str) -> None:
        folder = tmp_path / f"{package}-1.0.dist-info"
        folder.mkdir()
        (folder / "entry_points.txt").write_text(f"[goalwright.tools]\n{package}_tool = {package}:f\n")

    install("one")
    os.utime(tmp_path, (0, 0))  # long ago, so that what is read is kept
    assert [point.name for point in entry_points("goalwright.tools", [str(tmp_path)])] == ["one_tool"]
    install("two")
    assert [point.name for point in entry_points("goalwright.tools", [str(tmp_path)])] == ["one_tool", "two_tool"]


def test_a_package_that_is_being_installed_is_found_once_its_file_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "late-1.0.dist-info"
    folder.mkdir()
    assert entry_points("goalwright.tools", [str(tmp_path)]) == []
    (folder / "entry_points.txt").write_text("[goalwright.tools]\nlate_tool = late:f\n")
    assert [point.name for point in entry_points("goalwright.tools", [str(tmp_path)])] == ["late_tool"]


def test_the_standard_library_finds_the_same_entry_points() -> None:
    ours = [(point.name, point.value) for point in entry_points("console_scripts")]
    theirs = {point.name: point.value for point in importlib.metadata.entry_points(group="console_scripts")}
    assert dict(ours).keys() == theirs.keys()
