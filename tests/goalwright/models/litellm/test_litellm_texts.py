"""litellm's searches of error texts are bounded, in modules that it imports late too."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from goalwright.models.litellm import litellm_texts

if TYPE_CHECKING:
    import pytest


def module(name: str, seen: list[Any]) -> ModuleType:
    made = ModuleType(name)
    made.redact_string = seen.append  # type: ignore[attr-defined]
    return made


def test_modules_are_looked_through_again_when_there_are_new_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setitem(sys.modules, "litellm", ModuleType("litellm"))  # whether another test has imported it or not
    for name in ("litellm.early", "litellm.late"):
        monkeypatch.setitem(sys.modules, name, module(name, seen))
        litellm_texts.bound()
        sys.modules[name].redact_string("x" * 100_000)
    assert [len(text) < 20_000 for text in seen] == [True, True]
