"""A Python tool's packages are installed once from wheels of the user's index, without running their code."""

from __future__ import annotations

import tarfile
import zipfile
from typing import TYPE_CHECKING

import pytest

from goalwright_skills.confinement.choose import RefusingConfinement
from tests.skills.workbench import REPLY, WALLS, Workbench, any_walls, walls

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_skills.confinement import Confinement
    from goalwright_skills.tools.envelope import Envelope

PROGRAM = REPLY + "import shout, sys; reply([shout.loud('ada'), sys.prefix])"
slow = pytest.mark.slow


@pytest.fixture(params=WALLS)
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Workbench:
    return prepared(tmp_path, walls(request.param, tmp_path / "home"))


@pytest.fixture
def plain_bench(tmp_path: Path) -> Workbench:
    """For tests that do not depend on the sandbox: each environment takes a second or two of CPU time."""
    return prepared(tmp_path, any_walls(tmp_path / "home"))


def prepared(root: Path, confinement: Confinement) -> Workbench:
    bench = Workbench(root)
    assert bench.home == root / "home"
    bench.confinement = confinement
    wheel(root / "wheels")
    bench.user = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(root / "wheels"), "OPENAI_API_KEY": "sk-secret"}
    return bench


def wheel(folder: Path, **files: str) -> None:
    """Write a wheel with one function, and other files."""
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / "shout-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr("shout.py", "def loud(text):\n    return text.upper()\n")
        archive.writestr("shout-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: shout\nVersion: 1.0\n")
        tags = "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        archive.writestr("shout-1.0.dist-info/WHEEL", tags)
        for name, text in files.items():
            archive.writestr(name, text)
        archive.writestr("shout-1.0.dist-info/RECORD", "")


async def call(bench: Workbench, requirements: str = "shout==1.0\n", program: str = PROGRAM) -> Envelope:
    folder = bench.folder()
    (folder / "requirements.txt").write_text(requirements, encoding="utf-8")
    (folder / "skill.yaml").write_text("name: demo_run\ndescription: Run.\nruntime: python\nentry: main.py\n")
    (folder / "main.py").write_text(program, encoding="utf-8")
    return await bench.load(folder).call({})


@slow
async def test_requirements_are_installed_once_without_importing_local_modules(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = (bench.folder(), bench.workspace)
    for folder in folders:
        for name in ("venv", "pip", "ensurepip", "site", "sitecustomize", "usercustomize", "runpy", "json"):
            (folder / f"{name}.py").write_text("raise SystemExit('planted')")
        (folder / "__pip-runner__.py").write_text("raise SystemExit('planted')")
        (folder / "pip.conf").write_text("[global]\nindex-url = http://127.0.0.1:1/\n")
    monkeypatch.chdir(bench.workspace)
    bench.user["PYTHONPATH"] = ":".join(map(str, folders))
    program = PROGRAM.replace("import json, sys", "import sys; sys.path.pop(0); import json")
    envelope = await call(bench, program=program)
    assert envelope.status == "success", envelope.text
    assert envelope.data["output"][0] == "ADA"
    assert envelope.data["output"][1].startswith(str(bench.root / "cache")), "in an environment of their own"
    assert len(bench.progress) == 2
    await call(bench, "# the same\nShout == 1.0\n", program)
    assert len(bench.progress) == 2


@slow
async def test_missing_wheel_is_an_error_and_retried_and_indexes_are_separate(
    plain_bench: Workbench,
) -> None:
    (plain_bench.root / "wheels" / "shout-1.0-py3-none-any.whl").unlink()
    source = plain_bench.root / "shout-1.0"
    source.mkdir()
    (source / "setup.py").write_text("raise SystemExit('ran setup.py')")
    (source / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: shout\nVersion: 1.0\n")
    with tarfile.open(plain_bench.root / "wheels" / "shout-1.0.tar.gz", "w:gz") as archive:
        archive.add(source, "shout-1.0")
    text = (await call(plain_bench)).text
    assert "shout==1.0 has no wheel on the index" in text
    assert "ran setup.py" not in text
    wheel(plain_bench.root / "wheels")
    assert (await call(plain_bench)).data["output"][0] == "ADA"

    # The same requirements from another index need another environment.
    wheel(plain_bench.root / "other", **{"shout/__init__.py": "def loud(text): return 'poisoned'"})
    plain_bench.user["PIP_FIND_LINKS"] = str(plain_bench.root / "other")
    assert (await call(plain_bench)).data["output"][0] == "poisoned"


@slow
async def test_a_wheel_cannot_replace_the_interpreter(plain_bench: Workbench) -> None:
    wheel(plain_bench.root / "wheels", **{"shout-1.0.data/scripts/python": "#!/bin/sh\necho evil\n"})
    assert "was replaced by a package" in (await call(plain_bench)).text


@slow
async def test_wheel_cannot_run_code_outside_the_sandbox(bench: Workbench) -> None:
    """Landlock's launcher runs outside the sandbox, so it must not use an interpreter that a wheel can modify."""
    secret = bench.home / "secret"
    secret.parent.mkdir(parents=True, exist_ok=True)
    secret.write_text("secret")
    plant = f"import os\nif os.access({str(secret)!r}, os.R_OK):\n    open({str(bench.home / 'pwned')!r}, 'w')\n"
    config = f"home = {bench.root}/cache/bin\ninclude-system-site-packages = false\nversion = 3.11.7\n"
    files = {
        "shout-1.0.data/data/pyvenv.cfg": config,
        "evil.pth": f"import os; exec({plant!r})",
        "sitecustomize.py": plant,
    }
    wheel(
        bench.root / "wheels",
        **files,
        **{f"shout-1.0.data/data/lib/python3.11/{name}.py": plant for name in ("json", "os")},
    )
    await call(bench)
    assert not (bench.home / "pwned").exists()


async def test_nothing_is_built_before_trust(bench: Workbench) -> None:
    bench.trusted = False
    envelope = await call(bench)
    assert envelope.error is not None
    assert envelope.error.code == "ACCESS_DENIED"
    assert not (bench.root / "cache").exists()


async def test_without_confinement_nothing_is_built(bench: Workbench) -> None:
    bench.confinement = RefusingConfinement("no walls — set unsafe_tools")
    assert "unsafe_tools" in (await call(bench)).text
    assert not (bench.root / "cache").exists()


@pytest.mark.parametrize("line", ["./evil", "-r more.txt", "evil@file:///tmp/evil", "git+file:///tmp/evil", "-e ."])
async def test_requirements_from_elsewhere_are_refused_before_anything_starts(bench: Workbench, line: str) -> None:
    text = (await call(bench, f"shout==1.0\n{line}\n")).text
    assert "requirements.txt:2: " in text
    assert "such as openpyxl>=3.1" in text
    assert not (bench.root / "cache").exists()


async def test_linked_requirements_do_not_expose_their_target(bench: Workbench) -> None:
    (bench.workspace / ".env").write_text("KEY=secret\n")
    (bench.folder() / "requirements.txt").symlink_to(bench.workspace / ".env")
    tool = bench.tool("reply('ran')")
    text = (await tool.call({})).text
    assert "requirements.txt is a link" in text
    assert "secret" not in text
