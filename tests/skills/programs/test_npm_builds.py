"""A Node tool's packages are installed once from the user's registry, without running scripts."""

from __future__ import annotations

import base64
import gzip
import hashlib
import http.server
import io
import json
import subprocess
import tarfile
import threading
from typing import TYPE_CHECKING, Any

import pytest

from tests.needs import needs_node, needs_npm
from tests.skills.workbench import WALLS, Workbench, any_walls, walls

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from goalwright_skills.confinement import Confinement

pytestmark = pytest.mark.slow

PROGRAM = """
const shout = require("shout");
require("fs").readFileSync(0);
console.log(JSON.stringify({ output: shout("ada"), error: "" }));
"""
slow = pytest.mark.slow


class Registry(http.server.ThreadingHTTPServer):
    """A registry on loopback with the package shout, whose dependencies a test can set."""

    def __init__(self) -> None:
        self.dependencies: dict[str, str] = {}
        self.asked: list[str] = []
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/"

    def tarball(self) -> bytes:
        files = {
            "package.json": json.dumps(self.manifest()),
            "index.js": "module.exports = (text) => text.toUpperCase();",
            ".npmrc": "git=./evil.sh\n",
        }
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as archive:
            for name, text in files.items():
                info = tarfile.TarInfo(f"package/{name}")
                info.size = len(text)
                archive.addfile(info, io.BytesIO(text.encode()))
        return gzip.compress(out.getvalue(), mtime=0)

    def manifest(self) -> dict[str, Any]:
        scripts = dict.fromkeys(
            ("preinstall", "install", "postinstall", "prepare"), "echo ran > $npm_config_cache/../../ran"
        )
        return {"name": "shout", "version": "1.0.0", "dependencies": self.dependencies, "scripts": scripts}

    def packument(self) -> dict[str, Any]:
        one = self.manifest() | {"dist": {"tarball": f"{self.url}shout/-/shout-1.0.0.tgz"}}
        return {"name": "shout", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": one}}


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Registry

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        body = b""
        if self.path == "/shout":
            body = json.dumps(self.server.packument()).encode()
        elif self.path.endswith(".tgz"):
            body = self.server.tarball()
        self.send_response(200 if body else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Log nothing."""


@pytest.fixture
def registry() -> Iterator[Registry]:
    with Registry() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(params=WALLS)
def bench(request: pytest.FixtureRequest, tmp_path: Path, registry: Registry) -> Workbench:
    return prepared(tmp_path, walls(request.param, tmp_path / "home"), registry)


@pytest.fixture
def plain_bench(tmp_path: Path, registry: Registry) -> Workbench:
    """For tests that do not depend on the sandbox: each start of npm takes a second of CPU time."""
    return prepared(tmp_path, any_walls(tmp_path / "home"), registry)


def prepared(root: Path, confinement: Confinement, registry: Registry) -> Workbench:
    bench = Workbench(root)
    assert bench.home == root / "home"
    bench.confinement = confinement
    bench.home.mkdir()
    (bench.home / ".npmrc").write_text(f"registry={registry.url}\n")
    bench.user = {"HOME": str(bench.home), "OPENAI_API_KEY": "sk-secret"}
    return bench


def tool(bench: Workbench, **package: Any) -> Path:
    folder = bench.folder()
    (folder / "skill.yaml").write_text("name: demo_run\ndescription: Run.\nruntime: node\nentry: main.js\n")
    (folder / "main.js").write_text(PROGRAM)
    (folder / "package.json").write_text(json.dumps(package))
    return folder


async def answer(bench: Workbench, folder: Path) -> str:
    return (await bench.load(folder).call({})).text


@slow
@needs_npm
async def test_packages_are_installed_once_outside_the_folder_beside_a_copy_without_secrets(bench: Workbench) -> None:
    folder = tool(bench, dependencies={"shout": "^1.0.0"})
    (folder / "lib").mkdir()
    for name in (".env", "lib/.env.local", "lib/server.pem", "own.key"):
        (folder / name).write_text("secret")
    for place in (folder, bench.workspace):
        (place / ".npmrc").write_text("registry=http://127.0.0.1:1/\ngit=./evil.sh\nignore-scripts=false\n")
    assert await answer(bench, folder) == "ADA"
    first = list(bench.progress)
    assert any("installing its Node packages" in line for line in first)
    assert await answer(bench, folder) == "ADA"
    assert bench.progress == first
    assert not (folder / "node_modules").exists()
    assert not list(bench.root.rglob("ran"))
    kept = [path for path in (bench.root / "cache").rglob("*") if path.is_file()]
    assert [path for path in kept if path.name == "main.js"]
    assert not [path for path in kept if path.read_bytes() == b"secret"]


@slow
@needs_npm
async def test_lock_is_respected_and_copy_excludes_linked_files(plain_bench: Workbench, registry: Registry) -> None:
    folder = tool(plain_bench, dependencies={"shout": "^1.0.0"})
    digest = base64.b64encode(hashlib.sha512(registry.tarball()).digest()).decode()
    entry = {"version": "1.0.0", "resolved": f"{registry.url}shout/-/shout-1.0.0.tgz", "integrity": f"sha512-{digest}"}
    lock = {"lockfileVersion": 3, "packages": {"": {}, "node_modules/shout": entry}}
    (folder / "package-lock.json").write_text(json.dumps(lock))
    assert await answer(plain_bench, folder) == "ADA"
    assert "/shout" not in registry.asked
    (plain_bench.home / "secret.txt").write_text("secret")
    (folder / "data.txt").symlink_to(plain_bench.home / "secret.txt")
    text = await answer(plain_bench, folder)
    assert "is a link to" in text
    assert "by copies" in text
    copied = [path for path in (plain_bench.root / "cache").rglob("data.txt") if not path.is_symlink()]
    assert copied == []


@slow
@needs_npm
@pytest.mark.parametrize("address", ["git+file://{}", "git+file://{}#main", "file:{}", "{}"])
async def test_indirect_dependency_from_elsewhere_is_refused(
    plain_bench: Workbench, registry: Registry, address: str
) -> None:
    evil = plain_bench.root / "evil"
    evil.mkdir()
    (evil / "evil.sh").write_text(f"#!/bin/sh\ntouch {plain_bench.root}/cache/ran {plain_bench.root}/ran\n")
    (evil / "evil.sh").chmod(0o755)
    (evil / ".npmrc").write_text("git=./evil.sh\nignore-scripts=false\n")
    scripts = dict.fromkeys(("prepare", "postinstall"), "./evil.sh")
    (evil / "package.json").write_text(
        json.dumps(
            {"name": "evil", "version": "1.0.0", "scripts": scripts, "dependencies": {"y": "git+file:///nowhere"}}
        )
    )
    own = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for arguments in (["init", "-b", "main"], ["add", "."], ["commit", "-m", "x"]):
        subprocess.run([*own, *arguments], cwd=evil, check=True, capture_output=True)  # noqa: ASYNC221
    registry.dependencies = {"evil": address.format(evil)}
    envelope = await plain_bench.load(tool(plain_bench, dependencies={"shout": "1.0.0"})).call({})
    assert envelope.status == "error"
    assert not list(plain_bench.root.rglob("ran"))


@needs_npm
@pytest.mark.parametrize("version", ["git+https://example.org/x", "file:../x", "https://example.org/x.tgz", "a/b"])
async def test_a_package_from_elsewhere_is_refused_before_npm_starts(bench: Workbench, version: str) -> None:
    text = await answer(bench, tool(bench, dependencies={"shout": version}))
    assert "is not a version on the registry" in text
    assert not (bench.root / "cache").exists()


@needs_npm
async def test_a_lock_from_elsewhere_is_refused_before_npm_starts(bench: Workbench, registry: Registry) -> None:
    folder = tool(bench, dependencies={"shout": "1.0.0"})
    entry = {"version": "1.0.0", "resolved": "git+ssh://git@example.org/x.git#abc"}
    (folder / "package-lock.json").write_text(json.dumps({"packages": {"node_modules/shout": entry}}))
    assert "not from the registry" in await answer(bench, folder)
    assert not (bench.root / "cache").exists()
    assert registry.asked == []


@needs_node
async def test_an_empty_manifest_needs_no_npm(bench: Workbench) -> None:
    folder = tool(bench, scripts={"install": "false"})
    (folder / "main.js").write_text(PROGRAM.replace('require("shout")', "(text) => text"))
    assert await answer(bench, folder) == "ada"


@needs_npm
async def test_folder_linked_to_another_project_is_not_copied(bench: Workbench) -> None:
    project = bench.home / "other"
    (project / ".git").mkdir(parents=True)
    tool(bench, dependencies={"shout": "1.0.0"}).rename(project / "demo")
    (project / "demo" / ".git").mkdir()
    bench.workspace.joinpath("skills", "demo").symlink_to(project / "demo")
    assert "links to a project elsewhere" in await answer(bench, bench.workspace / "skills" / "demo")
    assert not (bench.root / "cache").exists()
