"""Builds run in the sandbox with only the settings of package indexes, and finished builds are protected."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from goalwright_skills.confinement.box import Command
from goalwright_skills.confinement.choose import RefusingConfinement
from goalwright_skills.confinement.system_paths import interpreter
from goalwright_skills.programs.build_cache import BuildCache, BuildError, BuildStep, cache_key
from tests.skills.workbench import WALLS, walls

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KEYS = {"OPENAI_API_KEY": "sk-secret", "AWS_SECRET_ACCESS_KEY": "secret", "DATABASE_URL": "postgres://u:p@h/d"}
LOOK = """
import json, os, pathlib, socket, sys
def tried(work):
    try:
        return str(work())
    except OSError as error:
        return type(error).__name__
home, out = map(pathlib.Path, sys.argv[1:3])
facts = {
    "env": dict(os.environ), "cwd": os.getcwd(), "path": sys.path,
    "secret": tried(lambda: (home / ".ssh" / "id").read_text()),
    "workspace": tried(lambda: (home / "project" / ".env").read_text()),
    "marker": tried(lambda: (out.parent.parent.with_suffix(".ready")).write_text("")),
    "beside": tried(lambda: (out.parent.parent.parent / "planted").write_text("x")),
    "home": tried(lambda: (home / ".bashrc").write_text("x")),
    "network": tried(lambda: socket.create_connection(("127.0.0.1", int(sys.argv[3])), 1).close()),
}
out.write_text(json.dumps(facts))
"""


@pytest.fixture(params=WALLS)
def build_cache(request: pytest.FixtureRequest, tmp_path: Path) -> BuildCache:
    home = tmp_path / "home"
    for name, text in {".ssh/id": "private", "project/.env": "KEY=1", ".bashrc": "own"}.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    environ = {**KEYS, "HOME": str(home), "PYTHONPATH": str(home), "NODE_OPTIONS": "--require x", "LANG": "C.UTF-8"}
    return BuildCache(tmp_path / "cache", environ, confinement=walls(request.param, home))


def python(*arguments: str, reads: tuple[Path, ...] = ()) -> Command:
    return Command((sys.executable, "-I", "-c", *arguments), (*interpreter(), *reads))


async def built(build_cache: BuildCache, key: str, program: str) -> None:
    async with build_cache.folder("test", key, "building") as build:
        await build_cache.run_step(build, BuildStep("step", python(program)))


async def test_build_step_is_confined_to_its_folder(
    build_cache: BuildCache, tmp_path: Path, unused_tcp_port: int
) -> None:
    home = tmp_path / "home"
    async with build_cache.folder("test", cache_key("x"), "building") as build:
        out = build.work / "facts"
        await build_cache.run_step(build, BuildStep("step", python(LOOK, str(home), str(out), str(unused_tcp_port))))
        facts = json.loads(out.read_text())
    assert not {*facts["env"]} & {*KEYS, "PYTHONPATH", "NODE_OPTIONS"}
    assert "secret" not in json.dumps(facts["env"])
    assert facts["cwd"] == str(build.work)
    assert not {"", ".", facts["cwd"]} & {*facts["path"]}
    for name in ("secret", "workspace", "marker", "beside", "home"):
        assert facts[name] in {"FileNotFoundError", "PermissionError", "OSError"}, name
    assert facts["network"] != "None"
    assert (home / ".bashrc").read_text() == "own"


async def test_failed_build_cannot_mark_itself_ready(build_cache: BuildCache) -> None:
    key = cache_key("x")
    plant = "open('../.ready', 'w'); open('.ready', 'w'); open('../evil.py', 'w'); raise SystemExit('evil')"
    with pytest.raises(BuildError, match="failed: evil"):
        await built(build_cache, key, plant)
    async with build_cache.folder("test", key, "building") as build:
        assert not build.ready
        assert not (build.path / "evil.py").exists()
    async with build_cache.folder("test", key, "building") as build:
        assert build.ready
        assert not build.work.exists()


def half(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / ".ready").touch()


def linked(folder: Path) -> None:
    other = folder.parent.parent / "other"
    other.mkdir(parents=True)
    folder.parent.mkdir(parents=True)
    folder.symlink_to(other)
    folder.with_suffix(".ready").touch(0o600)


def marker_is_a_link(folder: Path) -> None:
    folder.mkdir(parents=True, mode=0o700)
    (folder.parent / "x").touch()
    folder.with_suffix(".ready").symlink_to("x")


def writable_for_others(folder: Path) -> None:
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    folder.with_suffix(".ready").touch(0o600)


def marker_alone(folder: Path) -> None:
    folder.parent.mkdir(parents=True)
    folder.with_suffix(".ready").touch(0o600)


@pytest.mark.parametrize("plant", [half, linked, marker_is_a_link, writable_for_others, marker_alone])
async def test_incomplete_or_foreign_folder_is_built_again(tmp_path: Path, plant: Callable[[Path], None]) -> None:
    build_cache = BuildCache(tmp_path / "cache", {})
    plant(tmp_path / "cache" / "test" / "key")
    async with build_cache.folder("test", "key", "building") as build:
        assert not build.ready
        assert not build.path.is_symlink()
        assert [path.name for path in build.path.iterdir()] == ["work"]
    async with build_cache.folder("test", "key", "building") as build:
        assert build.ready


async def test_without_confinement_nothing_is_built(tmp_path: Path) -> None:
    build_cache = BuildCache(tmp_path / "cache", {}, confinement=RefusingConfinement("no walls — set unsafe_tools"))
    with pytest.raises(BuildError, match="was not run: no walls — set unsafe_tools"):
        await built(build_cache, "key", "open('x', 'w')")
    assert not list((tmp_path / "cache").rglob("x"))
