"""litellm is imported once; an import that broke off is started over."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
# A package as litellm is: its parts find each other through the package, and a part may fail.
PACKAGE = {
    "__init__.py": "from .utils import ready as acompletion\nfrom . import late\n",
    "utils.py": "ready = True\n",
    "late.py": "import os, litellm\nlitellm.utils\nif os.environ.pop('BREAK', ''):\n    raise OSError('a disk')\n",
}
TWICE = """
import threading
from weft.providers import litellm_model

litellm_model.preload()  # breaks off, out of sight
[loading.join() for loading in threading.enumerate() if loading.name == "load litellm"]
print(litellm_model.load().acompletion, litellm_model.load() is litellm_model.load())
"""


def test_an_import_that_broke_off_is_started_over(tmp_path: Path) -> None:
    (tmp_path / "litellm").mkdir()
    for name, text in PACKAGE.items():
        (tmp_path / "litellm" / name).write_text(text)
    environment = {"PYTHONPATH": f"{tmp_path}:{ROOT}", "BREAK": "once", "PATH": "/usr/bin:/bin"}
    ran = subprocess.run([sys.executable, "-c", TWICE], env=environment, capture_output=True, text=True, check=False)
    assert (ran.stdout.split(), ran.stderr) == (["True", "True"], "")
