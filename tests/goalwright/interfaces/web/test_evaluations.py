"""Evaluations over HTTP: the list, and one of them as `goalwright eval show --json` prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright import EvaluationOptions, evaluate
from tests.evaluated import answering, letters
from tests.goalwright.interfaces.web.served import asking

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.openai_server import OpenAIServer, Script


async def test_an_evaluation_is_listed_and_shown_with_its_rows(
    workspace: Path, serve: Callable[[Script], OpenAIServer]
) -> None:
    serve(answering(lambda goal, _: f"Dear Ann, about: {goal}"))
    async with asking(workspace) as asked:
        assert (await asked.get("/evaluations")).json() == []
        report = await evaluate(
            letters(2),
            {"one": {}, "two": {"max_tasks": 5}},
            model="openai/test-model",
            workspace=workspace,
            options=EvaluationOptions(repeat=1),
        )
        (listed,) = (await asked.get("/evaluations")).json()
        assert (listed["eval_id"], listed["runs"], "rows" in listed) == (report.eval_id, 4, False)
        shown = await asked.get(f"/evaluations/{report.eval_id}")
        assert shown.json() == report.to_dict()
        assert (await asked.get("/evaluations/nothing")).status_code == 404
