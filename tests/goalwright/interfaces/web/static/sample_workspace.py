"""A sample workspace with content on every page, for axe and screenshots: `python -m … FOLDER` serves it."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from goalwright.evaluation.store import EvaluationFolder
from goalwright_executor.stores.lease import Handover, myself
from goalwright_executor.stores.row import Row, RunSummary
from goalwright_executor.stores.sqlite.store import SqliteStore
from tests.goalwright.interfaces.web.static.sample_texts import (
    ANSWER,
    ARGUMENTS,
    ASKS,
    BATCH,
    CHANGES,
    CONVERSATION,
    DONE,
    EVALUATION,
    GOAL,
    MODEL,
    REDIS,
    RERUN,
    RUNNING,
    SELECTED,
    SERVERS,
    SKILLS,
    STEPS,
    TASKS,
    TURNS,
)
from tests.goalwright.interfaces.web.static.served_page import PageModel, served
from tests.goalwright.interfaces.web.static.written_runs import write_change


@dataclass
class Recording:
    """The rows of one run, by seconds since its start."""

    run: str
    began: datetime
    rows: list[tuple[float, str, dict[str, Any]]] = field(default_factory=list)

    def at(self, moment: float, event: str, /, **body: Any) -> None:
        self.rows.append((moment, event, body))

    def call(self, start: float, end: float, task: str | None, role: str, text: str, tokens: int = 1200) -> None:
        told = f"Task: {task or role}\n\nResults you may use:\n- needs: p99 below 2 ms, 2 GiB"
        said = (("system", "# Comparing options\n\nGive the evidence first, then a judgement."), ("user", told))
        messages: list[dict[str, Any]] = [
            {"role": by, "content": content, "tool_calls": [], "tool_call_id": None} for by, content in said
        ]
        usage = {"calls": 1, "prompt_tokens": tokens, "completion_tokens": tokens // 3, "cached_tokens": 0}
        reply = {
            "text": text,
            "tool_calls": [],
            "usage": usage,
            "cost": tokens * 2.4e-6,
            "finish": "stop",
            "model": MODEL,
        }
        variables = {"goal": GOAL, "instruction": f"Do what {task or role} says.", "results": {"needs": "p99 < 2 ms"}}
        self.at(start + 0.01, "prompt_made", role=role, task=task, variables=variables)
        self.at(start + 0.02, "call_started", role=role, task=task, model=MODEL, messages=messages, tools=["ReadFile"])
        self.at(end - 0.01, "call_finished", role=role, task=task, model=MODEL, reply=reply, seconds=end - start)

    def written(self) -> list[Row]:
        ordered = sorted(self.rows, key=lambda row: row[0])
        stamp = [(self.began + timedelta(seconds=at)).isoformat().replace("+00:00", "Z") for at, _, _ in ordered]
        return [Row(self.run, i + 1, stamp[i], kind, body) for i, (_, kind, body) in enumerate(ordered)]


def comparison(
    run: str, began: datetime, *, until: float = 99, redis: str = REDIS, parent: str | None = None
) -> Recording:
    """The run of the docs' screenshots, up to a time in seconds."""
    made = Recording(run, began)
    settings = {"model": MODEL, "max_cost": 0.5, "max_concurrency": 6, "detector": "ranked"}
    made.at(0, "run_started", run_id=run, goal=GOAL, workspace="/work", settings=settings, parent=parent)
    made.at(0.3, "skills_selected", detector="ranked", available=31, selections=SELECTED)
    made.call(0.4, 4.1, None, "decomposer", "{…}", 3120)
    plan = [
        {"id": task, "title": title, "action_type": kind, "name": name, "instruction": title, "depends_on": list(needs)}
        for task, kind, name, title, needs, _, _ in TASKS
    ]
    made.at(4.1, "plan_made", plan={"tasks": plan, "synthesis": "The recommendation first."}, attempts=1)
    for task, kind, name, _, _, start, end in TASKS:
        _task(made, (task, kind, name), start, end, until, redis)
    if until > 45:
        made.call(39.5, 44.0, None, "synthesis", ANSWER, 2600)
        made.at(44.0, "run_finished", status="partial", answer=ANSWER, error="pricing failed; cost was skipped")
    return made


def _task(
    made: Recording, task: tuple[str, str, str | None], start: float | None, end: float | None, until: float, redis: str
) -> None:
    name, kind, uses = task
    if name == "cost":
        made.at(12.5, "task_finished", task=name, status="skipped", error="it needs pricing, which failed")
    if start is None or start > until or end is None:
        return
    made.at(start, "task_started", task=name)
    if kind == "skill":
        made.at(start, "skill_loaded", task=name, name=uses, content=f"# {uses}\n\nGive the evidence first.")
    if name == "redis":
        made.at(
            start + 2,
            "call_retried",
            role="task",
            task=name,
            model=MODEL,
            attempt=1,
            wait=2.1,
            reason="429 Too Many Requests",
        )
    if end > until:
        return
    output = redis if name == "redis" else f"What {name} found, in three short points.\n\n- one\n- two\n- three\n"
    failed = name == "pricing"
    if kind == "tool":
        arguments = ARGUMENTS[name]
        error = {"code": "HTTP_ERROR", "message": "503 after 3 tries"} if failed else None
        envelope = {
            "status": "error" if failed else "success",
            "text": "" if failed else "1,840 requests/s at peak, 31 % writes",
            "data": {},
            "error": error,
            "context": {"params_input": arguments},
            "stats": {"time_ms": round((end - start) * 1000)},
        }
        made.at(end - 0.01, "tool_called", task=name, name=uses, envelope=envelope)
    else:
        made.call(start, end, name, "task", output, 900 + round((end - start) * 130))
    done = (
        {"status": "failed", "error": "https://prices.example: 503 after 3 tries"}
        if failed
        else {"status": "done", "output": output}
    )
    made.at(end, "task_finished", task=name, seconds=end - start, **done)


def asking(run: str, began: datetime) -> Recording:
    """A run that waits for an approval and for an answer."""
    made = Recording(run, began)
    made.at(
        0, "run_started", run_id=run, goal="Publish the weekly report", workspace="/work", settings={"model": MODEL}
    )
    mail = {"to": "team@example.com", "subject": "Weekly report"}
    plan = [
        {"id": "write", "title": "Write the report", "action_type": "llm", "instruction": "x", "depends_on": []},
        {"id": "send", "title": "Send it", "action_type": "tool", "name": "send_mail", "depends_on": ["write"]},
    ]
    made.at(1, "plan_made", plan={"tasks": plan}, attempts=1)
    made.at(1.1, "task_started", task="write")
    made.at(6, "task_finished", task="write", status="done", output="The report.", seconds=5)
    made.at(6.1, "task_started", task="send")
    asked = (began + timedelta(seconds=6)).isoformat()
    made.at(
        6.2,
        "approval_asked",
        id="9f2c41aa",
        task="send",
        kind="tool",
        tool="send_mail",
        arguments=mail,
        preview="Sends one message to 14 people",
        asked=asked,
    )
    made.at(6.4, "run_finished", status="waiting")
    return made


def turn(run: str, began: datetime, number: int, goal: str, answer: str, titles: tuple[str, ...] = ()) -> Recording:
    """A turn of the sample's conversation, answered at once or with these tasks in sequence."""
    made = Recording(run, began)
    place = {"id": CONVERSATION, "number": number}
    made.at(0, "run_started", run_id=run, goal=goal, workspace="/work", settings={"model": MODEL}, conversation=place)
    made.call(0.2, 2, None, "decomposer", "{…}", 900)
    names = [f"t{index}" for index, _ in enumerate(titles)]
    plan: dict[str, Any] = {
        "tasks": [
            {"id": name, "title": title, "action_type": "llm", "instruction": title, "depends_on": names[:index][-1:]}
            for index, (name, title) in enumerate(zip(names, titles, strict=True))
        ]
    }
    made.at(2, "plan_made", plan=plan if titles else plan | {"answer": answer}, attempts=1)
    for index, name in enumerate(names):
        made.at(2.1 + 5 * index, "task_started", task=name)
        made.call(2.1 + 5 * index, 6.9 + 5 * index, name, "task", answer, 700)
        made.at(7 + 5 * index, "task_finished", task=name, status="done", output=answer, seconds=4.9)
    made.at(2.1 + 5 * len(names), "run_finished", status="done", answer=answer)
    return made


def evaluation() -> dict[str, Any]:
    """A report with two variants, one of them better, and one case that got worse."""
    check = {"check": "contains: p99", "passed": True, "evidence": "the p99 is below 2 ms"}
    missed = {"check": "max_calls: 6", "passed": False, "evidence": "9 calls"}
    cases = ("redis or memcached", "cache size", "eviction", "failover")
    wrong = {("cache size", "without"), ("eviction", "without"), ("failover", "with")}
    names = ("without", "with")
    rows = [
        {"case": case, "variant": name, "repeat": 1, "run_id": RERUN if name == "with" else DONE}
        | {"passed": (case, name) not in wrong, "checks": [check, *([missed] if (case, name) in wrong else [])]}
        for case in cases
        for name in names
    ]
    figures = {"low": 0.15, "high": 0.85, "cost_usd": 0.031, "seconds": 44.0, "calls": 7.0}
    variants = [{"name": name, "pass_rate": rate} | figures for name, rate in zip(names, (0.5, 0.75), strict=True)]
    found = {"variant": "with", "against": "without", "mean": 0.25, "low": -0.25, "high": 0.75}
    found |= {"verdict": "no difference shown", "better": ["cache size", "eviction"], "worse": ["failover"]}
    found |= {"needed_cases": 12, "pairwise": {"better": 2, "worse": 1, "tie": 1}}
    return {"eval_id": EVALUATION, "cases": 4, "variants": variants, "differences": [found], "rows": rows}


def fill(workspace: Path) -> None:
    """Write skills, runs and an evaluation into a workspace."""
    EvaluationFolder(workspace, EVALUATION).end(evaluation() | {"judge": None, "stopped": None, "warnings": []})
    for name, text in SKILLS.items():
        folder = workspace / ".agents" / "skills" / name
        folder.mkdir(parents=True, exist_ok=True)
        body = f"# {name.replace('-', ' ').capitalize()}\n\n{STEPS}"
        (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {text}\n---\n{body}", encoding="utf-8")
        (folder / "references").mkdir(exist_ok=True)
        (folder / "references" / "example.md").write_text("# An example\n\nShort, with figures.\n", encoding="utf-8")
    tool = workspace / "skills" / "log"
    tool.mkdir(parents=True, exist_ok=True)
    (tool / "skill.yaml").write_text(
        "name: log_stats\ndescription: Count requests in access logs.\nentry: main.py\nruntime: python\n",
        encoding="utf-8",
    )
    (tool / "main.py").write_text('import json\n\nprint(json.dumps({"text": "1,840 requests/s"}))\n', encoding="utf-8")
    broken = workspace / ".agents" / "skills" / "old-report"
    broken.mkdir(parents=True, exist_ok=True)
    (broken / "SKILL.md").write_text("---\nname: old-report\n---\nWrite it.\n", encoding="utf-8")
    (workspace / ".agents").mkdir(parents=True, exist_ok=True)
    store = SqliteStore(workspace / ".agents" / "journal.sqlite")
    now = datetime.now(UTC)
    keep(store, comparison(DONE, now - timedelta(hours=2)), done=12, parent=None)
    keep(
        store,
        comparison(
            RERUN,
            now - timedelta(hours=1),
            redis=REDIS.replace("94.1 %", "91.7 %").replace("without", "with"),
            parent=DONE,
        ),
        done=12,
        parent=DONE,
    )
    keep(store, asking(ASKS, now - timedelta(minutes=24)), done=1)
    for number in range(12):
        keep_goal(store, number, now)
    for number, (run, goal, answer, titles) in enumerate(TURNS, 1):
        made = turn(run, now - timedelta(minutes=50 - number), number, goal, answer, titles)
        keep(store, made, done=len(titles))
    keep(store, comparison(RUNNING, now - timedelta(seconds=28.5), until=28.5), done=8)
    store.close()
    for path, before, after in CHANGES:
        write_change(workspace, DONE, path, before, after)
    (workspace / ".agents" / "runs" / DONE / "artifacts").mkdir(parents=True)
    (workspace / ".agents" / "runs" / DONE / "artifacts" / "comparison.csv").write_text("cache,p99\n", encoding="utf-8")
    (workspace / ".mcp.json").write_text(json.dumps({"mcpServers": SERVERS}), encoding="utf-8")


def keep(store: SqliteStore, made: Recording, *, done: int, parent: str | None = None) -> None:
    rows = made.written()
    first = rows[0].body
    ended = rows[-1].body.get("status") if rows[-1].type == "run_finished" else "running"
    plan: list[Any] = next((row.body["plan"]["tasks"] for row in rows if row.type == "plan_made"), [])
    replies = [row.body["reply"] for row in rows if row.type == "call_finished"]
    cost = sum(reply["cost"] or 0 for reply in replies)
    tokens = sum(reply["usage"]["prompt_tokens"] + reply["usage"]["completion_tokens"] for reply in replies)
    skills = tuple(one["name"] for row in rows if row.type == "skills_selected" for one in row.body["selections"])
    seconds = max(row[0] for row in made.rows)
    line = RunSummary(
        made.run,
        first["goal"],
        "running",
        rows[0].at,
        seconds,
        len(plan),
        cost,
        parent,
        done,
        skills,
        first.get("batch"),
        first.get("batch_goal"),
        (first.get("conversation") or {}).get("id"),
        MODEL,
        tokens,
    )
    holder = myself()
    store.append(rows[:1], {made.run: line}, Handover(holder, taken=[made.run]))
    released = Handover(holder, released=[made.run]) if ended != "running" else Handover(holder)
    line = replace(line, status=str(ended), code=rows[-1].body.get("code"))
    store.append(rows[1:], {made.run: line}, released)


def keep_goal(store: SqliteStore, number: int, now: datetime) -> None:
    """One goal of a batch."""
    run = f"2026111{4 + number // 20}T0{number % 10}0000{number:03}-b{number:05x}"
    made = Recording(run, now - timedelta(days=number // 2, hours=5, minutes=-number))
    goal = f"Summarise support ticket {4100 + number} and name its theme"
    made.at(
        0,
        "run_started",
        run_id=run,
        goal=goal,
        workspace="/work",
        settings={"model": MODEL},
        batch=BATCH,
        batch_goal=f"t{number}",
        batch_size=20,
    )
    plan = [{"id": "read", "title": "Read the ticket", "action_type": "llm", "instruction": "x", "depends_on": []}]
    made.at(1, "plan_made", plan={"tasks": plan}, attempts=1)
    made.at(1.1, "task_started", task="read")
    made.call(1.1, 7, "read", "task", "Billing", 800)
    failed = number % 9 == 4
    made.at(
        7,
        "task_finished",
        task="read",
        status="failed" if failed else "done",
        output=None if failed else "Billing",
        error="refused" if failed else None,
    )
    ending = (
        {"status": "failed", "code": "RATE_LIMITED", "error": "429 for ten minutes"}
        if failed
        else {"status": "done", "answer": "Billing"}
    )
    made.at(8, "run_finished", **ending)
    keep(store, made, done=0 if failed else 1)


async def main(folder: str, port: str = "8431") -> None:
    """Serve the sample until it is interrupted."""
    workspace = Path(folder)
    if not (workspace / ".agents").exists():
        fill(workspace)
    async with served(workspace, PageModel(), port=int(port)) as server:
        print(json.dumps({"address": server.at("/")}), flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
