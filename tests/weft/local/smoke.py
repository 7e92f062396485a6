"""A real model from end to end, kept in the folder given: pulled, checked, served, asked, and gone."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[3]))

from weft.local.profile import bounded, profiles
from weft.local.pull import hash_of, pull
from weft.local.server import Endpoint, Load, close_shared, count_tokens, shared
from weft.local.shape import small_plan_schema, widen
from weft.local.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence

SMALL = profiles()["small"]
GOAL = "Write API documentation for a to-do service, then a changelog for its first release"
# Less than the profile has, which would take a minute more.
LIMIT = 400
SKILLS = ["cataloging-apis", "writing-changelogs"]


async def ask(endpoint: Endpoint, messages: list[dict[str, Any]], **options: Any) -> Any:
    """One call as weft makes it: through litellm, counted before it is sent."""
    import litellm

    def count(candidate: Sequence[dict[str, Any]]) -> int:
        return count_tokens(endpoint, candidate)

    response = await litellm.acompletion(
        model=endpoint.model,
        api_base=endpoint.base_url,
        api_key=endpoint.api_key,
        messages=bounded(messages, count, LIMIT),
        extra_body=dict(SMALL.server),
        **options,
    )
    assert response.usage.prompt_tokens <= LIMIT + 8
    return response.choices[0].message.content


async def work(endpoint: Endpoint) -> None:
    """A plan bound to the schema, its tasks side by side, and a synthesis."""
    schema = small_plan_schema(SKILLS, most=SMALL.tasks(GOAL))
    form = {"type": "json_schema", "json_schema": {"name": "plan", "schema": schema}}
    written = await ask(endpoint, SMALL.plan_messages(GOAL, SKILLS), response_format=form, **SMALL.calls["plan"])
    plan = widen(json.loads(written))
    assert [task["id"] for task in plan["tasks"]] in (["t1"], ["t1", "t2"])
    assert plan["tasks"][0]["name"] in SKILLS
    short = dict(SMALL.calls["task"]) | {"max_tokens": 16}
    skill = "# Skill\n" + "Be brief and exact. " * 2000
    prompts = [SMALL.task_messages(GOAL, task["instruction"], skill) for task in plan["tasks"] * 2]
    outputs = await asyncio.gather(*(ask(endpoint, prompt, **short) for prompt in prompts))
    assert all(outputs)
    assert await ask(endpoint, SMALL.answer_messages(GOAL, dict(zip("abcd", outputs, strict=False))), **short)


def main(folder: Path) -> None:
    """Everything once; the last line is printed where nothing was left behind."""
    model = pull("smollm2-135m", store=Store(folder))
    assert hash_of(model.path) == model.record.sha256
    before = threading.active_count()
    endpoint = shared(Load(model.path, context=2048))
    assert endpoint.context == 2048
    assert shared(Load(model.path, context=2048)) == endpoint
    asyncio.run(work(endpoint))
    close_shared()
    assert threading.active_count() == before, threading.enumerate()
    children = subprocess.run(
        ["ps", "-o", "args=", "--ppid", str(os.getpid())], capture_output=True, text=True, check=False
    )
    assert children.stdout.split("\n") == ["ps -o args= --ppid " + str(os.getpid()), ""]
    again = shared(Load(model.path, context=2048))
    assert count_tokens(again, [{"role": "user", "content": "still there?"}]) > 3
    print("clean")  # the second server is left to the end of the interpreter


if __name__ == "__main__":
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    main(Path(sys.argv[1]))
