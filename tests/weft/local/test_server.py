from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from skills.errors import SetupError
from weft.choose import local_is_installed as installed
from weft.local.server import Load, Server

SCRIPT = Path(__file__).with_name("smoke.py")


def test_a_missing_extra_is_said_with_the_command_that_installs_it() -> None:
    # None in sys.modules makes the import fail as if the package were not there.
    code = (
        "import sys; sys.modules['xllamacpp'] = None\n"
        "from pathlib import Path\n"
        "from skills.errors import SetupError\n"
        "from weft.local.server import Load, Server\n"
        "try: Server(Load(Path('x.gguf')))\n"
        "except SetupError as error: print(error.message, error.hint, error.exit_status)\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "xllamacpp, which is not installed" in said
    assert "pip install 'weft[local]'" in said
    assert said.rstrip().endswith("4")


def test_importing_the_module_does_not_load_the_native_library() -> None:
    code = "import sys, weft.local.server, weft.local.pull; print('xllamacpp' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == "False\n"


@pytest.mark.skipif(not installed(), reason="weft[local] is not installed")
def test_a_file_that_is_no_model_is_refused_with_a_remedy(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(SetupError, match=r"broken\.gguf could not be loaded") as caught:
        Server(Load(broken))
    assert "weft models pull" in caught.value.hint


@pytest.mark.local_model
@pytest.mark.skipif(not installed(), reason="weft[local] is not installed")
def test_a_real_model_is_pulled_plans_answers_and_ends_cleanly(tmp_path: Path) -> None:
    """In a process of its own, so that what it leaves behind can be seen from outside."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        cwd=Path(__file__).parents[3],
    )
    assert done.stderr == ""
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "clean"
