"""An archive is imported completely or not at all, and nothing is written outside."""

from __future__ import annotations

import gzip
import os
import resource
import tarfile
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goalwright_skills.errors import InputError
from goalwright_skills.manage import archive, install
from goalwright_skills.manage.archive import ArchiveLimits, ArchiveRefused, members, unpack
from tests.skills.manage.archives import SKILL, everything, link, tarred, zipped
from tests.skills.tree import put

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "entries",
    [
        {"SKILL.md": SKILL, "../evil.md": b"x"},
        {"SKILL.md": SKILL, "/etc/evil.md": b"x"},
        {"SKILL.md": SKILL, "a/../../evil.md": b"x"},
        {"SKILL.md": SKILL, "..\\evil.md": b"x"},
        {"SKILL.md": SKILL, "C:\\evil.md": b"x"},
        {"README.md": b"no skill"},
        {"SKILL.md": b"no frontmatter"},
        {"a/SKILL.md": SKILL, "b/SKILL.md": SKILL},
        {"SKILL.md": SKILL, "a": b"file", "a/b": b"below a file"},
    ],
)
@pytest.mark.parametrize("pack", [zipped, tarred])
def test_an_archive_with_a_bad_entry_is_refused(tmp_path: Path, entries: dict[str, bytes], pack: object) -> None:
    workspace = tmp_path / "w"
    workspace.mkdir()
    source = pack(tmp_path / "bad.zip", entries)  # type: ignore[operator]
    with pytest.raises(InputError), install.stage(source, workspace) as staged:
        staged.commit()
    assert everything(workspace) == set()
    assert everything(tmp_path) == {"w", "bad.zip"}


def test_links_that_lead_outside_devices_and_links_to_folders_are_refused(tmp_path: Path) -> None:
    fifo = tarfile.TarInfo("pipe")
    fifo.type = tarfile.FIFOTYPE
    bad = [
        zipped(tmp_path / "1.zip", {"SKILL.md": SKILL}, {"l.md": "/etc/passwd"}),
        zipped(tmp_path / "2.zip", {"d/SKILL.md": SKILL}, {"d/l.md": "../../x"}),
        tarred(tmp_path / "3.tar.gz", {"SKILL.md": SKILL}, [link("l", "../x")]),
        tarred(tmp_path / "4.tar.gz", {"SKILL.md": SKILL}, [link("l", "/etc/passwd", tarfile.LNKTYPE)]),
        tarred(tmp_path / "5.tar.gz", {"SKILL.md": SKILL}, [fifo]),
        tarred(tmp_path / "6.tar.gz", {"SKILL.md": SKILL}, [link("l", "nowhere")]),
    ]
    folder = tmp_path / "folder"
    put(folder, "demo")
    (folder / "l.md").symlink_to("/etc/passwd")
    for source in (*bad, folder):
        with pytest.raises(ArchiveRefused), install.stage(source, tmp_path / "w"):
            pass
    assert not (tmp_path / "w/.agents").exists()


def test_links_inside_become_copies(tmp_path: Path) -> None:
    entries = {"d/SKILL.md": SKILL, "d/a.md": b"text"}
    hard = link("d/hard.md", "d/a.md", tarfile.LNKTYPE)
    source = tarred(tmp_path / "x.tar.gz", entries, [link("d/sub/soft.md", "../a.md"), hard])
    with install.stage(source, tmp_path) as staged:
        target = staged.commit()
    for name in ("sub/soft.md", "hard.md"):
        assert not (target / name).is_symlink()
        assert (target / name).read_bytes() == b"text"


def test_limits_apply_even_if_headers_lie(tmp_path: Path) -> None:
    bomb = zipped(tmp_path / "bomb.zip", {"SKILL.md": SKILL, "zeros": b"\0" * 5_000_000})
    with pytest.raises(ArchiveRefused, match="times its size"), install.stage(bomb, tmp_path / "w"):
        pass
    many = zipped(tmp_path / "many.zip", {f"{number}": b"" for number in range(20)})
    with pytest.raises(ArchiveRefused, match="more than 10 entries"), members(many, ArchiveLimits(entries=10)):
        pass
    with members(many) as files, pytest.raises(ArchiveRefused, match="nested deeper"):
        archive._check_depth(
            archive.Member(files[0].path.joinpath(*"abcdefghijklmnopqrstuvwxyz"), files[0].open), ArchiveLimits()
        )
    (tmp_path / "out").mkdir()
    with members(bomb) as files, pytest.raises(ArchiveRefused, match="more than 1000 bytes"):
        unpack(files, tmp_path / "out", 0, ArchiveLimits(size=1_000))
    assert not (tmp_path / "w/.agents").exists()


def test_a_damaged_archive_or_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(b"PK\x03\x04rubbish")
    (tmp_path / "x.tar.gz").write_bytes(b"\x1f\x8brubbish")
    for name in ("x.zip", "x.tar.gz", "none"):
        with pytest.raises(InputError), install.stage(tmp_path / name, tmp_path / "w"):
            pass


NAMES = st.lists(
    st.sampled_from(["..", ".", "a", "b", "/", "\\", "C:", "~", "SKILL.md", "..\\", " "]), min_size=1, max_size=6
)


@given(st.lists(NAMES.map("/".join), min_size=1, max_size=5))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_entry_is_written_outside(tmp_path: Path, names: list[str]) -> None:
    base = tmp_path / "base"
    workspace = base / "w"
    workspace.mkdir(parents=True, exist_ok=True)
    source = zipped(tmp_path / "x.zip", {"SKILL.md": SKILL} | dict.fromkeys(names, b"x"))
    try:
        with install.stage(source, workspace) as staged:
            assert all(path.resolve().is_relative_to(staged.folder) for path in staged.folder.rglob("*"))
    except InputError:
        pass
    assert everything(base) == {"w"}


def test_a_damaged_entry_is_refused(tmp_path: Path) -> None:
    source = zipped(tmp_path / "x.zip", {"SKILL.md": SKILL, "big.txt": os.urandom(5_000)})
    data = bytearray(source.read_bytes())
    data[2_000] ^= 0xFF
    source.write_bytes(data)
    with pytest.raises(ArchiveRefused, match="cannot be unpacked"), install.stage(source, tmp_path / "w"):
        pass
    assert not (tmp_path / "w/.agents").exists()


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME])
def test_excessive_tar_headers_are_refused(tmp_path: Path, kind: bytes) -> None:
    header = tarfile.TarInfo("x")
    header.type, header.size = kind, 256 * 1024 * 1024
    source = tmp_path / "x.tar.gz"
    parts = [header.tobuf(tarfile.GNU_FORMAT), bytes(8 * 1024 * 1024)]
    packed = [gzip.compress(part, 1) for part in parts]
    source.write_bytes(packed[0] + 32 * packed[1])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    with pytest.raises(ArchiveRefused, match="bytes of headers"), install.stage(source, tmp_path / "w"):
        pass

    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024


@pytest.mark.parametrize("suffix", ["gz", "bz2", "xz", ""])
def test_tar_archives_are_read_with_every_compression(tmp_path: Path, suffix: str) -> None:
    put(tmp_path / "demo", "demo")
    (tmp_path / "demo/big.txt").write_text("x" * 300_000)
    source = tmp_path / f"x.tar.{suffix}"
    with tarfile.open(source, f"w:{suffix}") as file:  # type: ignore[call-overload]
        file.add(tmp_path / "demo", "demo")
    with install.stage(source, tmp_path / "w") as staged:
        assert staged.files == ("SKILL.md", "big.txt")
