"""A real model end to end: pulled, verified, served, called and stopped."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

from goalwright import Goal, Goalwright, Settings
from goalwright.models.local import model as local_model
from goalwright.models.local.backends.install import install_faster
from goalwright.models.local.downloads.pull import hash_of, pull
from goalwright.models.local.serving.server import close_shared, servers
from goalwright.models.local.store import ModelStore, models_dir
from goalwright_planner.plan.plan import Plan
from goalwright_planner.prompting import profile

MODEL = "smollm2-135m"
GOAL = "Write API documentation for a to-do service"


def briefly() -> None:
    """Limit every answer to a few tokens: this model's text is useless, and time matters."""
    small = profile.profiles()["small"]
    short = {role: {**values, "max_tokens": 8} for role, values in small.sampling.items() if role != "decomposer"}
    bounded = replace(small, prompt_tokens=400, sampling={**small.sampling, **short})
    known = {"full": profile.FULL, "small": bounded}
    profile.__dict__["profiles"] = lambda *_: known
    local_model.__dict__["profiles"] = lambda *_: known


async def work(workspace: Path) -> None:
    """A plan with its task, and the same with a synthesis: every token that this model reads takes CPU time."""
    skill = workspace / "skills" / "cataloging-apis"
    skill.mkdir(parents=True)
    text = "---\nname: cataloging-apis\ndescription: Write API documentation.\n---\n" + "Be brief and exact. " * 2000
    (skill / "SKILL.md").write_text(text, encoding="utf-8")
    async with Goalwright(workspace, Settings(model=f"local/{MODEL}")) as goalwright:
        planned = await goalwright.run(Goal(GOAL, skills=("cataloging-apis",)))
        assert planned.status == "done", planned.error
        assert planned.plan is not None
        assert [task.id for task in planned.plan.tasks] == ["t1"]
        assert planned.tasks[0].name == "cataloging-apis"
        first = Plan(planned.plan.tasks, synthesis="Put it together.")
        result = await goalwright.run(Goal(GOAL, plan=first))
        assert (result.status, result.cost_usd, result.usage.calls) == ("done", 0.0, 2)


def main(workspace: Path) -> None:
    """Run everything once; print the backend, and `clean` if no process is left."""
    model = pull(MODEL, store=ModelStore(models_dir()))
    assert hash_of(model.path) == model.record.sha256
    install_faster(models_dir())
    briefly()
    asyncio.run(work(workspace))
    print(*{server.backend.name for server in servers()})
    close_shared()
    left = [thread for thread in threading.enumerate() if thread is not threading.main_thread() and not thread.daemon]
    assert not [thread for thread in left if "asyncio" not in thread.name], left
    children = subprocess.run(
        ["ps", "-o", "args=", "--ppid", str(os.getpid())], capture_output=True, text=True, check=False
    )
    assert children.stdout.split("\n") == ["ps -o args= --ppid " + str(os.getpid()), ""]
    print("clean")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
