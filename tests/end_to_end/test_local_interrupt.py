"""Ctrl-C while the embedded model is still loading: the run ends at once, as everywhere else, and leaves nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright.models.local import catalogue
from tests.needs import needs_local

if TYPE_CHECKING:
    from tests.nursery import Nursery, Process

pytestmark = needs_local


def hosts(process: Process) -> set[str]:
    """The processes below this one that have the native library."""
    listed = Path(f"/proc/{process.pid}/task").glob("*/children")
    below = {pid for path in listed for pid in path.read_text(encoding="utf-8").split()}
    return {pid for pid in below if "xllamacpp.abi3" in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8")}


def test_ctrl_c_during_the_load_ends_the_run_at_once(tmp_path: Path, nursery: Nursery) -> None:
    name = catalogue.read().default
    record = {"name": name, "bytes": 0, "sha256": "", "context": 0, "profile": "small", "origin": "a test"}
    (tmp_path / f"{name}.json").write_text(json.dumps(record), encoding="utf-8")
    os.mkfifo(tmp_path / f"{name}.gguf")  # its load never ends
    process = nursery.start(
        ["-m", "goalwright", "run", "--model", "local", "--json", "Explain tides"],
        env={**os.environ, "GOALWRIGHT_MODELS_DIR": str(tmp_path)},
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 60
    while not (loading := hosts(process)):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, json.loads(out)["status"]) == (130, "interrupted")
    assert "goalwright resume" in err
    assert not [pid for pid in loading if Path(f"/proc/{pid}/stat").exists()]
