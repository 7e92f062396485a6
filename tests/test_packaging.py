"""The wheel, built from the sdist and used outside the checkout."""

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
# With a scripted model, because litellm takes seconds to load.
PROGRAM = """
import asyncio
import planner, executor, seed, skills
from goalwright import Reply, Settings, Goalwright

class Model:
    def __init__(self, name):
        self.name = name

    async def complete(self, request):
        if request.role == "decomposer":
            return Reply('{"tasks": [{"id": "greet", "action_type": "llm", "instruction": "Greet."}]}')
        return Reply("Hello.")

async def main():
    async with Goalwright(".", Settings(model="own"), open_model=Model) as goalwright:
        result = await goalwright.run("Say hello")
        print(result.status, result.answer)

print([module.WHOSE for module in (planner, executor, seed, skills)])
asyncio.run(main())
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from the sdist, as `python -m build` does."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def test_the_wheel_has_only_our_top_level_names(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.partition("/")[0] for name in names if ".dist-info" not in name}
    assert tops == {"goalwright", "goalwright_executor", "goalwright_planner", "goalwright_skills"}


def test_the_wheel_carries_every_data_file_of_the_checkout(wheel: Path) -> None:
    command = ["git", "ls-files", "goalwright", "executor", "planner", "skills", "seed"]
    tracked = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    inside = {_in_wheel(name) for name in tracked}
    assert inside <= set(zipfile.ZipFile(wheel).namelist())


def _in_wheel(name: str) -> str:
    """Return the path of a checkout's file in the wheel."""
    top, _, rest = name.partition("/")
    return {"goalwright": name, "seed": f"goalwright_planner/{name}"}.get(top, rest)


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the installed wheel."""
    folder = tmp_path_factory.mktemp("site")
    zipfile.ZipFile(wheel).extractall(folder)
    return folder


def test_a_project_may_have_modules_named_like_our_folders(site: Path, tmp_path: Path, own_home: Path) -> None:
    """Modules of the user named planner, executor, seed and skills are imported, and a goal runs beside them."""
    project = tmp_path / "project"
    (project / "skills").mkdir(parents=True)
    for name in ("planner.py", "executor.py", "seed.py", "skills/__init__.py"):
        (project / name).write_text(f"WHOSE = {name!r}\n", encoding="utf-8")
    (project / "main.py").write_text(PROGRAM, encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": str(site)}
    ran = subprocess.run([sys.executable, "main.py"], cwd=project, env=env, capture_output=True, text=True, check=False)
    assert ran.stdout.splitlines() == [
        "['planner.py', 'executor.py', 'seed.py', 'skills/__init__.py']",
        "done Hello.",
    ], ran.stderr
    for name in ("click.py", "yaml.py"):  # the command imports nothing from its current folder
        (project / name).write_text("raise ImportError\n", encoding="utf-8")
    command = [sys.executable, "-m", "goalwright", "trace", "list", "--json"]
    ran = subprocess.run(command, cwd=project, env=env, capture_output=True, text=True, check=False)
    assert [run["goal"] for run in json.loads(ran.stdout)] == ["Say hello"], ran.stderr


def test_the_wheel_works_outside_the_checkout(site: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    code = (
        "import goalwright; print(goalwright.__file__); "
        "from goalwright_planner.prompting.prompts import Prompts; Prompts().check()"
    )
    env = {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=elsewhere, env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(str(site))
    command = [sys.executable, "-m", "goalwright", "skills", "list", "--json"]
    listed = subprocess.run(command, cwd=elsewhere, env=env, capture_output=True, text=True, check=True)
    rows = json.loads(listed.stdout)
    shipped = [
        path.name
        for path in (ROOT / "skills" / "goalwright_skills" / "library").iterdir()
        if (path / "SKILL.md").is_file()
    ]
    assert {row["name"] for row in rows if row["source"] == "bundled"} >= set(shipped)
