"""The short form of every soak; `scripts/soak NAME` runs the long one."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from tests.soaks.__main__ import main
from tests.soaks.registry import SOAKS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.nursery import Nursery
    from tests.soaks.soak import Soak


@pytest.mark.parametrize("soak", [soak for soak in SOAKS.values() if soak.short], ids=lambda soak: soak.name)
@pytest.mark.slow
def test_killed_a_few_times_nothing_is_lost_mixed_up_or_paid_twice(
    soak: Soak, tmp_path: Path, nursery: Nursery
) -> None:
    assert soak.short <= 5
    folder = tmp_path / "work"
    folder.mkdir()
    figures = soak.run(nursery, folder, soak.short, random.Random())
    assert f"{soak.short} kills" in figures


def test_without_a_name_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    listed = capsys.readouterr().out
    assert all(f"{soak.name} " in listed and soak.summary in listed for soak in SOAKS.values())
    assert main(["nonsense"]) == 2
    said = capsys.readouterr().err
    assert all(name in said for name in SOAKS)
