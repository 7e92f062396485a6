"""The confinement in force is described plainly."""

from __future__ import annotations

from pathlib import Path

import pytest

from goalwright_skills.confinement import Box, Command, choose, in_force
from goalwright_skills.confinement.choose import Abilities, RefusingConfinement
from goalwright_skills.confinement.system_paths import roots, visible


def test_the_confinement_in_force_names_its_walls() -> None:
    force = in_force()
    assert force.name == choose().name
    assert any("network" in line for line in (*force.holds, *force.lacks)) or force.hint


def test_unsafe_changes_nothing_where_tools_can_be_confined() -> None:
    strongest = choose()
    if strongest.refusal:
        assert choose(unsafe=True).name == "none"
    else:
        assert choose(unsafe=True).name == strongest.name
        assert in_force(unsafe=True) == in_force()


@pytest.mark.parametrize("unsafe", [False, True])
def test_the_strongest_confinement_that_works_is_chosen_by_name(unsafe: bool) -> None:
    assert choose(unsafe=unsafe, machine=Abilities("/usr/bin/bwrap", 7, known=True)).name == "bubblewrap"
    assert choose(unsafe=unsafe, machine=Abilities("", 1, known=True)).name == "landlock+seccomp"


@pytest.mark.parametrize("nothing", [Abilities("", 0, known=True), Abilities("", 7, known=False)])
def test_where_nothing_works_tools_are_refused_unless_unsafe(nothing: Abilities) -> None:
    assert choose(machine=nothing).refusal
    assert choose(machine=nothing, unsafe=True).name == "none"


def test_unsafe_lists_what_is_open_where_nothing_works() -> None:
    force = in_force(unsafe=True, machine=Abilities("", 0, known=False))
    assert force.name == "none"
    assert any("open to every tool" in line for line in force.lacks)
    assert "bubblewrap" in force.hint or "Linux" in force.hint


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
