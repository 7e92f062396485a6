"""The capabilities that the agent declares."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from goalwright.interfaces.acp.agent import GoalwrightAgent
from goalwright.settings.paths import Paths
from goalwright.settings.settings import Settings
from goalwright_skills.errors import SetupError

if TYPE_CHECKING:
    from pathlib import Path


async def capabilities(agent: GoalwrightAgent) -> Any:
    """Return the capabilities as an editor receives them."""
    return (await agent.initialize(1)).model_dump(by_alias=True)["agentCapabilities"]


@pytest.mark.parametrize(
    ("settings", "image"),
    [
        ({"model": "openai/gpt-4o"}, True),
        ({"model": "openrouter/openai/gpt-4o"}, True),
        ({"model": "openai/gpt-3.5-turbo"}, False),
        ({"model": "openai/gpt-3.5-turbo", "task": "openai/gpt-4o"}, True),
        ({"model": "openai/no-such-model"}, False),
        ({"model": "openai/no-such-model", "vision": {"openai/no-*": True}}, True),
        ({"model": "openai/gpt-4o", "vision": {"openai/gpt-4o": False}}, False),
        ({"model": "local"}, False),
    ],
)
async def test_images_are_accepted_if_a_model_supports_them(workspace: Path, settings: Any, image: bool) -> None:
    agent = GoalwrightAgent(lambda _: (Paths.of(workspace, os.environ), Settings(**settings)))
    assert (await capabilities(agent))["promptCapabilities"]["image"] is image


async def test_declared_mcp_transports_are_the_supported_ones(workspace: Path) -> None:
    agent = GoalwrightAgent(lambda _: (Paths.of(workspace, os.environ), Settings(model="local")))
    told = (await capabilities(agent))["mcpCapabilities"]
    assert (told["http"], told["sse"]) == (True, False)


async def test_unreadable_settings_do_not_reject_an_editor() -> None:
    def configure(_: Path) -> Any:
        raise SetupError("goalwright.toml, line 1: no", hint="fix it")

    told = await capabilities(GoalwrightAgent(configure))
    assert (told["loadSession"], told["promptCapabilities"]["image"]) == (True, False)
