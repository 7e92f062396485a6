"""litellm is imported once; a failed import can be repeated."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[4]
# A package as litellm is: its parts find each other through the package, and a part may fail.
PACKAGE = {
    "__init__.py": "from .utils import ready as acompletion\nfrom . import late\n",
    "utils.py": "ready = True\n",
    "late.py": "import os, litellm\nlitellm.utils\nif os.environ.pop('BREAK', ''):\n    raise OSError('a disk')\n",
}
TWICE = """
import threading
from goalwright.models.litellm import lifecycle

lifecycle.preload()  # breaks off, out of sight
[loading.join() for loading in threading.enumerate() if loading.name == "load litellm"]
print(lifecycle.load().acompletion, lifecycle.load() is lifecycle.load())
"""

EARLY_END = """
import threading
from goalwright.models.litellm import lifecycle

[lifecycle.preload() for _ in range(3)]
print([loading.name for loading in threading.enumerate()].count("load litellm"))
"""
# A package that takes a minute, and looks for other modules all the while.
SLOW = "import importlib.util, time\nfor _ in range(600):\n    time.sleep(0.1)\n    importlib.util.find_spec('none')\n"


def test_exiting_program_does_not_wait_for_the_import(tmp_path: Path) -> None:
    (tmp_path / "litellm").mkdir()
    (tmp_path / "litellm" / "__init__.py").write_text(SLOW)
    environment = {"PYTHONPATH": f"{tmp_path}:{ROOT}", "PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-c", EARLY_END]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=50)
    assert (ran.returncode, ran.stdout.split(), ran.stderr) == (0, ["1"], "")


def test_failed_import_can_be_repeated(tmp_path: Path) -> None:
    (tmp_path / "litellm").mkdir()
    for name, text in PACKAGE.items():
        (tmp_path / "litellm" / name).write_text(text)
    environment = {"PYTHONPATH": f"{tmp_path}:{ROOT}", "BREAK": "once", "PATH": "/usr/bin:/bin"}
    ran = subprocess.run([sys.executable, "-c", TWICE], env=environment, capture_output=True, text=True, check=False)
    assert (ran.stdout.split(), ran.stderr) == (["True", "True"], "")
