"""The choice of a confinement, its description, and the paths that it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from goalwright_skills.confinement import Box, Command, choose, describe
from goalwright_skills.confinement.choose import Abilities, RefusingConfinement
from goalwright_skills.confinement.system_paths import roots, visible


def test_description_names_the_confinement() -> None:
    description = describe()
    assert description.name == choose().name
    assert any("network" in line for line in (*description.holds, *description.lacks)) or description.hint


def test_unsafe_has_no_effect_where_tools_can_be_confined() -> None:
    strongest = choose()
    if strongest.refusal:
        assert choose(unsafe=True).name == "none"
    else:
        assert choose(unsafe=True).name == strongest.name
        assert describe(unsafe=True) == describe()


@pytest.mark.parametrize("unsafe", [False, True])
def test_strongest_available_confinement_is_chosen(unsafe: bool) -> None:
    assert choose(unsafe=unsafe, machine=Abilities("/usr/bin/bwrap", 7, is_supported=True)).name == "bubblewrap"
    assert choose(unsafe=unsafe, machine=Abilities("", 1, is_supported=True)).name == "landlock+seccomp"


@pytest.mark.parametrize("machine", [Abilities("", 0, is_supported=True), Abilities("", 7, is_supported=False)])
def test_without_a_confinement_tools_are_refused_unless_unsafe(machine: Abilities) -> None:
    assert choose(machine=machine).refusal
    assert choose(machine=machine, unsafe=True).name == "none"


def test_description_of_no_confinement_lists_the_risks() -> None:
    description = describe(unsafe=True, machine=Abilities("", 0, is_supported=False))
    assert description.name == "none"
    assert any("open to every tool" in line for line in description.lacks)
    assert "bubblewrap" in description.hint or "Linux" in description.hint


def test_refusing_confinement_launches_nothing() -> None:
    refusing = RefusingConfinement("nothing here can confine it")
    with pytest.raises(OSError, match="nothing here can confine it"):
        refusing.launch(Command(("true",)), Box(Path("/")))


def test_home_folder_is_never_visible_as_a_whole(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for name in (".ssh", "music", "project"):
        (home / name).mkdir(parents=True)
    (home / "link").symlink_to("/etc")
    assert visible([home], home) == [home / "music", home / "project"]
    assert home not in visible([tmp_path], home)
    assert visible([home / "project"], home) == [home / "project"]
    assert visible([Path("/")], home) == []


def test_path_inside_a_visible_folder_is_not_repeated(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "ab").mkdir()
    shown = visible([tmp_path / "a" / "b", tmp_path / "a", tmp_path / "ab"], Path("/nonexistent"))
    assert shown == [tmp_path / "a", tmp_path / "ab"]


def test_password_hashes_and_private_keys_of_etc_are_not_visible() -> None:
    names = {str(path) for path in roots(network=True)}
    assert "/etc/shadow" not in names
    assert "/etc" not in names
    assert "/etc/ssl" not in names
