"""Forked workers have the tests imported and otherwise behave like any process."""

from __future__ import annotations

import os
import shlex
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.forked_workers import forked_workers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """The command that pytest-xdist starts instead of Python."""
    folder = tmp_path_factory.mktemp("tests")
    (folder / "test_one.py").write_text("def test_it(): pass\n", encoding="utf-8")
    (folder / "test_broken.py").write_text("import nothing_of_this_name\n", encoding="utf-8")
    with forked_workers(["."], folder) as started:
        yield [*shlex.split(started.removeprefix("popen//python=")), "-u", "-c"]


def test_a_worker_has_imported_tests_and_its_own_environment_folder_and_status(
    python: list[str], tmp_path: Path
) -> None:
    code = (
        "import os, sys; print([m in sys.modules for m in ('test_one', 'test_broken')], os.getcwd(), os.environ['A'])"
    )
    code += "; sys.stdin.read(); sys.exit(3)"
    folder, env = tmp_path / "elsewhere", {**os.environ, "A": "given"}
    folder.mkdir()
    ran = subprocess.run([*python, code], cwd=folder, env=env, input="", capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (3, f"[True, False] {folder} given\n", "")
    killed = subprocess.run([*python, "import os; os.kill(os.getpid(), 9)"], check=False)
    assert killed.returncode == 128 + 9


def test_a_worker_ends_with_its_parent_command(python: list[str]) -> None:
    code = "import time; print('here', flush=True); time.sleep(600)"
    with subprocess.Popen([*python, code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        process.terminate()
        assert process.wait(60) == 128 + 15
        assert process.stdout.read() == ""
