"""The confinement in force is described plainly."""

from __future__ import annotations

from pathlib import Path

import pytest

from skills.confinement import Box, Command, choose, in_force
from skills.confinement.choose import RefusingConfinement
from skills.confinement.system_paths import roots, visible


def test_the_confinement_in_force_names_its_walls() -> None:
    force = in_force()
    assert force.name == choose().name
    assert any("network" in line for line in (*force.holds, *force.lacks)) or force.hint


def test_unsafe_lists_what_is_open() -> None:
    force = in_force(unsafe=True)
    assert force.name == "none"
    assert any("open to every tool" in line for line in force.lacks)


def test_a_refusal_launches_nothing() -> None:
    refusing = RefusingConfinement("nothing here can confine it")
    with pytest.raises(OSError, match="nothing here can confine it"):
        refusing.launch(Command(("true",)), Box(Path("/")))


def test_the_home_is_never_shown_whole(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for name in (".ssh", "music", "project"):
        (home / name).mkdir(parents=True)
    (home / "link").symlink_to("/etc")
    assert visible([home], home) == [home / "music", home / "project"]
    assert home not in visible([tmp_path], home)
    assert visible([home / "project"], home) == [home / "project"]
    assert visible([Path("/")], home) == []


def test_what_is_inside_a_shown_folder_is_not_shown_twice(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "ab").mkdir()
    shown = visible([tmp_path / "a" / "b", tmp_path / "a", tmp_path / "ab"], Path("/nonexistent"))
    assert shown == [tmp_path / "a", tmp_path / "ab"]


def test_of_the_settings_only_harmless_ones_are_shown() -> None:
    names = {str(path) for path in roots(network=True)}
    assert "/etc/shadow" not in names
    assert "/etc" not in names
    assert "/etc/ssl" not in names
