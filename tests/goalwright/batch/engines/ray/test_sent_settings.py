"""Settings from a batch's command line apply on every machine, or the machine is not used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goalwright.batch.bundle.archive import BundleRefused
from goalwright.batch.bundle.pack import pack, settings_text
from goalwright.batch.engines.ray.messages import WorkerSetup
from goalwright.batch.engines.ray.sent_settings import flags_for_workers, follow
from goalwright.batch.engines.ray.worker import open_workspace
from goalwright.batch.options import BatchOptions
from goalwright.runs.runtime import Goalwright
from goalwright.settings.settings import Settings
from goalwright.version import __version__

if TYPE_CHECKING:
    from pathlib import Path


def on_a_machine(workspace: Path, batch: Settings, *given: str) -> Settings:
    """The settings of a worker on a machine, for a batch of which these were given on the command line."""
    bundle = pack(Goalwright(workspace, batch), settings=batch)
    flags = flags_for_workers(given, batch)
    setup = WorkerSetup(
        __version__, BatchOptions(), (), 4, bundle=bundle.sha256, journal="postgresql://db/goalwright", flags=flags
    )
    return open_workspace(setup, bundle.data).settings


def test_batch_flag_overrides_machine_settings(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"MODEL": "openai/own", "TASK": "openai/small", "TIMEOUT": "5", "MAX_REPLANS": "0"}.items():
        monkeypatch.setenv(f"GOALWRIGHT_{name}", value)
    batch = Settings(model="openai/flag", timeout=900.0, max_replans=2)
    followed = on_a_machine(workspace, batch, "model", "timeout", "max_replans", "journal")
    assert (followed.model, followed.model_for("task"), followed.timeout) == ("openai/flag", "openai/flag", 900.0)
    assert (followed.max_replans, followed.journal) == (2, "postgresql://db/goalwright")
    plain = on_a_machine(workspace, batch)
    assert (plain.model, plain.task, plain.timeout) == ("openai/own", "openai/small", 5.0), "it was no flag"


def test_guarded_flag_is_refused_by_name() -> None:
    web = flags_for_workers(["allow_web"], Settings(allow_web=("a.example",)))
    with pytest.raises(BundleRefused, match="allow_web, which only this machine's own settings can allow") as refused:
        follow(web, Settings())
    assert "set `allow_web` in the config.toml" in (refused.value.hint or "")
    own = Settings(allow_web=("a.example", "b.example"))
    assert follow(web, own) == own, "it allows that and more"


def test_required_skills_are_required_on_every_machine() -> None:
    batch = Settings(skills_require=("house-style",), skills_pin=("a",))
    flags = flags_for_workers([], batch)
    assert follow(flags, Settings()).skills_require == ("house-style",)
    assert "skills_require" not in settings_text(batch)
    assert 'skills_pin = ["a"]' in settings_text(batch)
    assert flags_for_workers([], Settings()) == {}
