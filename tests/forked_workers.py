"""Forks the workers of pytest-xdist from a process that has imported all tests, which saves seconds per worker.

The process imports the requested test modules, and litellm if there are many. Workers then collect the tests without
importing again. pytest-xdist starts `tests/fork_request.py` instead of Python.
"""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests import nursery_process
from tests.nursery import Nursery

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

MANY = 50  # modules


@contextmanager
def forked_workers(tests: Sequence[str], folder: Path) -> Iterator[str]:
    """Return the `--tx` specification of a worker."""
    with tempfile.TemporaryDirectory(prefix="workers-") as place:
        address = f"{place}/socket"
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.bind(address)
            listener.listen(128)
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.forked_workers", str(listener.fileno()), *tests],
                stdin=subprocess.PIPE,  # the process ends when this pipe closes
                pass_fds=[listener.fileno()],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                cwd=folder,
            )
        with process:
            yield f"popen//python={shlex.join(Nursery(address).command())}"


class _Imported(pytest.Module):
    """A test module that is imported without collecting its tests."""

    def collect(self) -> list[pytest.Item | pytest.Collector]:
        assert self.obj is not None
        return []


class _Imports:
    """Imports test modules and counts them."""

    modules = 0

    def pytest_pycollect_makemodule(self, module_path: Path, parent: pytest.Collector) -> pytest.Module:
        self.modules += 1
        return _Imported.from_parent(parent, path=module_path)


def _warm_up(tests: Sequence[str]) -> None:
    """Import the tests as pytest does, and the modules that most of them use."""
    imports = _Imports()
    output, nothing = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    places = dict.fromkeys(test.partition("::")[0] for test in tests)
    # Without capturing, because some modules keep the standard files of import time.
    pytest.main(["--collect-only", "-qqq", "-s", "-p", "no:cacheprovider", *places], [imports])  # workers report errors
    sys.stdout.flush()
    os.dup2(output, 1)
    os.close(output)
    os.close(nothing)
    if imports.modules > MANY:
        nursery_process.import_litellm()
        _draw_text()
    assert threading.active_count() == 1, "a forked process would lack the other threads"


def _draw_text() -> None:
    """Load Hypothesis's character table, which takes seconds."""
    from hypothesis import given, settings, strategies  # pytest must import this plugin first

    settings(max_examples=1, database=None)(given(strategies.text())(lambda _: None))()


if __name__ == "__main__":
    _warm_up(sys.argv[2:])
    nursery_process.main(int(sys.argv[1]))
