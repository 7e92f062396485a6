"""The choice of the backend, and its warnings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from goalwright.models.local.backends import catalogue
from goalwright.models.local.backends.backend import Backend
from goalwright.models.local.backends.choose import decide
from goalwright.models.local.backends.machine import Platform, free_cores, parse, this_machine
from goalwright_skills.errors import SetupError

if TYPE_CHECKING:
    from pathlib import Path

LIBRARY = Backend("xllamacpp", "1.0")
ARM = Platform("linux", "aarch64", "Neoverse-N1", frozenset({"asimd", "asimddp"}), (2, 36))
ENTRIES = catalogue.read()


def install(root: Path) -> Path:
    folder = ENTRIES[0].folder(root)
    folder.mkdir(parents=True)
    program = folder / ENTRIES[0].program
    program.touch()
    return program


def test_program_runs_if_the_processor_has_its_instructions(tmp_path: Path) -> None:
    program = install(tmp_path)
    chosen = decide("", ENTRIES, ARM, tmp_path, LIBRARY)
    assert chosen.backend.program == program
    assert "without the instructions for dot products" in chosen.why
    assert not chosen.faster
    assert not chosen.slow


def test_library_runs_until_the_program_is_fetched(tmp_path: Path) -> None:
    chosen = decide("", ENTRIES, ARM, tmp_path, LIBRARY)
    assert chosen.backend == LIBRARY
    assert "`goalwright models pull`" in chosen.faster
    assert chosen.entry == ENTRIES[0]
    assert "runs with xllamacpp 1.0, several times slower" in chosen.slow
    assert "llama-server is not fetched yet; for a faster one: llama-server (" in chosen.slow


@pytest.mark.parametrize(
    ("machine", "said"),
    [
        (replace(ARM, instructions=frozenset({"asimd"})), "does not have the instructions asimddp"),
        (replace(ARM, glibc=(2, 31)), "glibc 2.34 or newer, and this system has 2.31"),
        (replace(ARM, glibc=()), "glibc 2.34 or newer, and this system has another"),
    ],
)
def test_machine_without_required_instructions_uses_the_library(tmp_path: Path, machine: Platform, said: str) -> None:
    install(tmp_path)
    chosen = decide("", ENTRIES, machine, tmp_path, LIBRARY)
    assert (chosen.backend, chosen.entry) == (LIBRARY, None)
    assert said in chosen.why
    assert said in chosen.slow


@pytest.mark.parametrize(("system", "architecture"), [("linux", "x86_64"), ("darwin", "arm64"), ("win32", "amd64")])
def test_platform_without_a_program_uses_the_library(tmp_path: Path, system: str, architecture: str) -> None:
    chosen = decide("", ENTRIES, Platform(system, architecture), tmp_path, LIBRARY)
    assert (chosen.backend, chosen.faster, chosen.entry) == (LIBRARY, "", None)


def test_empty_catalogue_selects_the_library(tmp_path: Path) -> None:
    install(tmp_path)
    assert decide("", catalogue.parse("backends: []"), ARM, tmp_path, LIBRARY).backend == LIBRARY


def test_a_user_can_choose_and_an_unknown_backend_is_named(tmp_path: Path) -> None:
    install(tmp_path)
    assert decide("xllamacpp", ENTRIES, ARM, tmp_path, LIBRARY).backend == LIBRARY
    assert decide("llama-server", ENTRIES, ARM, tmp_path, LIBRARY).backend.name == "llama-server"
    with pytest.raises(SetupError, match=r"'vulkan'; backends are: xllamacpp, llama-server"):
        decide("vulkan", ENTRIES, ARM, tmp_path, LIBRARY)


def test_program_runs_without_the_library(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"xllamacpp, which is not installed") as caught:
        decide("", ENTRIES, ARM, tmp_path, None)
    assert "pip install 'goalwright[local]'" in caught.value.hint
    install(tmp_path)
    assert decide("", ENTRIES, ARM, tmp_path, None).backend.name == "llama-server"


def test_every_part_is_pinned_by_version_and_hash_and_has_a_publisher_and_a_licence() -> None:
    for part in (part for entry in ENTRIES for part in entry.parts):
        assert len(bytes.fromhex(part.sha256)) == 32
        assert part.source.version[0].isdigit()
        assert part.publisher
        assert part.licence


def test_only_instructions_of_all_cores_count() -> None:
    text = "processor : 0\nFeatures\t: asimd asimddp\nCPU part\t: 0xd0c\nprocessor : 1\nFeatures\t: asimd\n"
    machine = parse(text, "linux", "aarch64", (2, 36))
    assert machine.instructions == {"asimd"}
    assert machine.cpu == "0xd0c"


def test_this_machine_has_a_free_core() -> None:
    assert this_machine().system
    assert free_cores(0.01) >= 1
