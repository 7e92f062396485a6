"""The requirements of a Ray cluster, checked before Ray is used."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from goalwright import BatchOptions, ClusterOptions, run_batch
from goalwright.settings.ray_security import is_this_machine, token_is_set
from goalwright_skills.errors import InputError, SetupError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.nursery import Ran


def test_sqlite_journal_is_refused_for_a_cluster(goalwright: Callable[..., Ran], workspace: Path) -> None:
    (workspace / "goals.txt").write_text("A goal\n", encoding="utf-8")
    command = ("batch", "goals.txt", "-o", "out.jsonl", "--model", "openai/x", "--engine", "ray", "--address", "auto")
    refused = goalwright(*command, cwd=workspace)
    assert refused.status == 2
    assert "postgresql://user@host/database" in refused.err
    assert not (workspace / "out.jsonl").exists()
    alone = goalwright("batch", "goals.txt", "-o", "out.jsonl", "--workers", "2", cwd=workspace)
    assert (alone.status, "need --engine ray" in alone.err) == (2, True)


async def test_journal_password_and_invalid_address_are_refused(workspace: Path) -> None:
    settings = {"journal": "postgresql://me:secret@db/goalwright", "model": "openai/x"}
    options = BatchOptions(cluster=ClusterOptions("auto"))
    with pytest.raises(InputError, match="has a password") as refused:
        await run_batch(["A goal"], workspace / "out.jsonl", workspace=workspace, settings=settings, options=options)
    assert "secret" not in refused.value.message
    for address in ("ray://head:10001", "head", "http://x"):
        with pytest.raises(InputError, match=r"is neither auto nor HOST:PORT"):
            ClusterOptions(address)
    with pytest.raises(InputError, match=r"slots must be above 0, not 0; drain must not be negative"):
        ClusterOptions(slots=0, drain=-1)


async def test_missing_ray_package_is_named(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    options = BatchOptions(cluster=ClusterOptions())
    with pytest.raises(SetupError, match="needs Ray, which is not installed") as missing:
        await run_batch(["A goal"], workspace / "out.jsonl", workspace=workspace, options=options)
    assert missing.value.hint == "pip install 'goalwright[ray]'"


def test_cluster_authentication_is_detected(tmp_path: Path) -> None:
    assert is_this_machine("127.0.0.1")
    assert is_this_machine("localhost")
    assert not is_this_machine("192.0.2.1")  # an address for documentation
    home = {"HOME": str(tmp_path)}
    assert not token_is_set(home)
    assert token_is_set(home | {"RAY_AUTH_MODE": "token"})
    assert token_is_set(home | {"RAY_AUTH_TOKEN": "x"})
    assert not token_is_set(home | {"RAY_AUTH_TOKEN": "x", "RAY_AUTH_MODE": "disabled"})
    (tmp_path / ".ray").mkdir()
    (tmp_path / ".ray" / "auth_token").write_text("x", encoding="utf-8")
    assert token_is_set(home)


def test_doctor_reports_what_a_cluster_lacks(goalwright: Callable[..., Ran], workspace: Path) -> None:
    said = goalwright("doctor", "--engine", "ray", cwd=workspace).out
    assert "ray       ray 2." in said
    assert "goals run in workers on this machine alone" in said
    assert "token authentication is off" in said


def test_a_plain_batch_and_help_import_neither_ray_nor_psycopg() -> None:
    program = (
        "import sys, goalwright.interfaces.cli.main, goalwright.interfaces.cli.commands.batches.batch; "
        "import goalwright.batch.run_batch, goalwright.batch.engines.open; "
        "sys.exit(any(name in sys.modules for name in ('ray', 'psycopg', 'goalwright.batch.engines.ray.engine')))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
