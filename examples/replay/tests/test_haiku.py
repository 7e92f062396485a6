"""A recorded run as a test: no model, no key, no network."""

import asyncio
from pathlib import Path

HERE = Path(__file__).parent


def test_the_haiku_has_three_lines(goalwright_recorded):
    recorded = goalwright_recorded(HERE / "runs" / "haiku.jsonl", workspace=HERE.parent)
    result = asyncio.run(recorded.run(recorded.goal))
    assert result.status == "done"
    assert len(result.answer.splitlines()) == 3
