"""What users install: a wheel built from the sdist, used outside the checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.slow  # builds an sdist and a wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the sdist as `python -m build` does."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def test_the_wheel_has_our_top_level_names_and_no_others(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.partition("/")[0] for name in names if ".dist-info" not in name}
    assert tops == {"weft", "weft_executor", "weft_planner", "weft_skills"}


def test_the_wheel_carries_every_data_file_of_the_checkout(wheel: Path) -> None:
    command = ["git", "ls-files", "weft", "executor", "planner", "skills", "seed"]
    tracked = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    inside = {_in_wheel(name) for name in tracked}
    assert inside <= set(zipfile.ZipFile(wheel).namelist())


def _in_wheel(name: str) -> str:
    """Where a file of the checkout stands in the wheel."""
    top, _, rest = name.partition("/")
    return {"weft": name, "seed": f"weft_planner/{name}"}.get(top, rest)


def test_the_wheel_works_outside_the_checkout(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    code = "import weft; print(weft.__file__); from weft_planner.prompting.prompts import Prompts; Prompts().check()"
    env = {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=elsewhere, env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(str(site))
    command = [sys.executable, "-m", "weft", "skills", "list", "--json"]
    listed = subprocess.run(command, cwd=elsewhere, env=env, capture_output=True, text=True, check=True)
    rows = json.loads(listed.stdout)
    shipped = [
        path.name for path in (ROOT / "skills" / "weft_skills" / "library").iterdir() if (path / "SKILL.md").is_file()
    ]
    assert {row["name"] for row in rows if row["source"] == "bundled"} >= set(shipped)
