"""Request bodies: unknown keys are refused before anything happens."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from goalwright.interfaces.web.app import ROUTES
from tests.fakes import ScriptedModel
from tests.goalwright.interfaces.web.served import asking
from tests.goalwright.recorded import GOAL, PLAN, answering, prepare

if TYPE_CHECKING:
    from pathlib import Path

# Their bodies are files.
RAW = ("/runs/import", "/files", "/skills/imports")
JSON = [
    (one.method, re.sub(r"\{[^}]*\}", "x", one.path))
    for one in ROUTES
    if one.method in ("POST", "PUT") and one.path not in RAW
]


@pytest.mark.parametrize(("method", "path"), JSON)
async def test_every_route_refuses_unknown_keys(workspace: Path, method: str, path: str) -> None:
    body = {"spoon": "steel"}
    async with asking(workspace) as asked:
        said = await asked.request(
            method, path, json=[body] if path.endswith("/answers") else body, headers={"if-match": '""'}
        )
    assert said.status_code == 400, said.text
    assert said.json()["error"]["message"] == "unknown key in the body: 'spoon'"
    assert list(workspace.glob(".agents/**/*")) == []


async def test_the_hint_lists_the_known_keys(workspace: Path) -> None:
    async with asking(workspace) as asked:
        said = (await asked.post("/runs", json={"Goal": "x", "budget": 1})).json()["error"]
        assert said["message"] == "unknown keys in the body: 'Goal', 'budget'"
        assert said["hint"] == "known keys: goal, files, skills, answers, plan, settings, parent"
        said = (await asked.post("/replay", json={"run": "x"})).json()["error"]
        assert said["hint"] == "send no body, or {}"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/runs", {"goal": "x", "files": ["\ud800.csv"]}),
        ("/plan", {"goal": "x", "skills": ["\udfff"]}),
        ("/skills", {"id": "our-notes", "name": "\ud800", "description": "Writes notes."}),
        ("/skills", {"id": "our-notes", "description": "\ud800"}),
        ("/runs/x/answers", [{"id": "x", "text": "\ud800"}]),
    ],
)
@pytest.mark.parametrize("escaped", [True, False])
async def test_lone_surrogates_are_refused(
    workspace: Path, path: str, body: dict[str, Any] | list[Any], *, escaped: bool
) -> None:
    content = json.dumps(body, ensure_ascii=escaped).encode(errors="surrogatepass")
    async with asking(workspace) as asked:
        said = await asked.post(path, content=content, headers={"content-type": "application/json"})
    assert said.status_code == 400, said.text
    assert "half of a surrogate pair" in said.json()["error"]["message"]
    assert list(workspace.glob(".agents/**/*")) == []


async def test_surrogate_pairs_are_accepted_in_any_encoding(workspace: Path) -> None:
    async with asking(workspace) as asked:
        for text in ('"\\ud83d\\ude00"', '"\U0001f600"', '"\ud7ff"'):
            body = f'{{"goal": {text}}}'.encode()
            said = await asked.post("/skills/select", content=body, headers={"content-type": "application/json"})
            assert said.status_code == 200, said.text


async def test_all_documented_keys_are_accepted(workspace: Path) -> None:
    prepare(workspace)
    goal = {"goal": GOAL, "files": [], "skills": [], "answers": [], "plan": PLAN, "settings": {}}
    async with asking(workspace, ScriptedModel(answering)) as asked:
        assert (await asked.post("/runs", json=goal | {"parent": None})).status_code == 202
        assert (await asked.post("/conversations", json=goal)).status_code == 202
        assert (await asked.post("/preview", json=goal)).status_code == 200
        chosen = (await asked.post("/skills/select", json={"goal": GOAL, "top": 2})).json()["selected"]
        assert len(chosen) == 2
        assert (await asked.post("/skills/select", json={"goal": GOAL, "top": "2"})).status_code == 400
