"""The files of a run over HTTP: artifacts, and changes of the workspace that are shown and undone."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from tests.collector import collecting
from tests.fakes import ScriptedModel
from tests.goalwright.interfaces.web.served import asking
from tests.goalwright.interfaces.web.static.written_runs import write_change
from tests.goalwright.interfaces.web.test_runs import Slow, ended, started
from tests.goalwright.recorded import answering, prepare
from tests.image_bytes import png

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def notes(workspace: Path) -> None:
    prepare(workspace)


async def test_artifacts_are_sent_as_attachments_without_links(workspace: Path) -> None:
    async with asking(workspace, ScriptedModel(answering)) as asked:
        run_id = await started(asked)
        await ended(asked, run_id)
        folder = workspace / ".agents" / "runs" / run_id / "artifacts"
        (folder / "deep").mkdir(parents=True)
        (folder / "deep" / "page.html").write_text("<script>alert(1)</script>", encoding="utf-8")
        (folder / "link").symlink_to("/etc/passwd")
        (folder / "folder").symlink_to("/etc")
        listed = (await asked.get(f"/runs/{run_id}/artifacts")).json()
        assert listed == [{"path": "deep/page.html", "bytes": 25}]
        one = await asked.get(f"/runs/{run_id}/artifacts/deep/page.html")
        assert one.headers["content-type"] == "application/octet-stream"
        assert one.headers["content-disposition"] == 'attachment; filename="page.html"'
        begin = await asked.get(f"/runs/{run_id}/artifacts/deep/page.html?first=7")
        assert (begin.content, begin.headers["content-type"]) == (b"<script", "application/octet-stream")
        for path in ("link", "folder/passwd", "%2e%2e/x", "deep/%2e%2e/deep/page.html", "deep"):
            assert (await asked.get(f"/runs/{run_id}/artifacts/{path}")).status_code == 404


async def test_changes_are_shown_as_a_patch_and_undone_except_in_files_changed_since(workspace: Path) -> None:
    async with asking(workspace, ScriptedModel(answering)) as asked, asking(workspace, read_only=True) as reading:
        run_id = await started(asked)
        await ended(asked, run_id)
        empty = {"run_id": run_id, "files": [], "patch": ""}
        assert (await asked.get(f"/runs/{run_id}/changes")).json() == empty
        write_change(workspace, run_id, "app.py", "a = 1\n", "a = 2\n")
        write_change(workspace, run_id, "new/page.md", None, "new\n")
        shown = (await reading.get(f"/runs/{run_id}/changes")).json()
        assert [(one["path"], one["state"]) for one in shown["files"]] == [
            ("app.py", "applied"),
            ("new/page.md", "applied"),
        ]
        assert "-a = 1\n+a = 2\n" in shown["patch"]
        assert (await reading.post(f"/runs/{run_id}/changes/undo")).status_code == 404
        (workspace / "app.py").write_text("mine\n", encoding="utf-8")
        undone = (await asked.post(f"/runs/{run_id}/changes/undo")).json()
        assert undone["left"] == ["app.py"]
        assert {one["path"]: one["state"] for one in undone["files"]} == {"app.py": "applied", "new/page.md": "undone"}
        assert (workspace / "app.py").read_text(encoding="utf-8") == "mine\n"
        assert not (workspace / "new" / "page.md").exists()


async def test_changes_of_an_unknown_run_give_404_and_of_a_running_one_409(workspace: Path) -> None:
    model = Slow()
    async with asking(workspace, model) as asked:
        run_id = await started(asked)
        await model.reached.wait()
        refused = await asked.post(f"/runs/{run_id}/changes/undo")
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "RUN_HELD")
        for name in ("none", "..", "%2e%2e", "..%2f..%2fetc", run_id[:8]):
            assert (await asked.get(f"/runs/{name}/changes")).status_code == 404
            assert (await asked.post(f"/runs/{name}/changes/undo")).status_code == 404
        model.free.set()
        await ended(asked, run_id)


async def test_spans_are_sent_only_to_the_collector_of_the_environment(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asking(workspace, ScriptedModel(answering)) as asked:
        run_id = await started(asked)
        await ended(asked, run_id)
        refused = await asked.post(f"/runs/{run_id}/otlp", json={"endpoint": "http://127.0.0.1:9"})
        assert (refused.status_code, (await asked.get("/about")).json()["otlp"]) == (400, False)
        with collecting() as (address, sent):
            monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
            assert (await asked.get("/about")).json()["otlp"]
            reply = (await asked.post(f"/runs/{run_id}/otlp")).json()
        (document,) = [document for _, document in sent]
        assert reply["spans"] == len(document["resourceSpans"][0]["scopeSpans"][0]["spans"]) > 4
        assert "the answer" not in str(document)


async def test_an_image_is_sent_by_hash_as_an_attachment(workspace: Path) -> None:
    data = png(64, 48)
    (workspace / "red.png").write_bytes(data)
    async with asking(workspace, ScriptedModel(answering)) as asked, asking(workspace, read_only=True) as reading:
        run_id = await started(asked, files=["red.png"])
        await ended(asked, run_id)
        digest = hashlib.sha256(data).hexdigest()
        one = await reading.get(f"/runs/{run_id}/images/{digest}")
        assert (one.content, one.headers["content-type"]) == (data, "application/octet-stream")
        assert one.headers["content-disposition"].startswith("attachment")
        for name in ("0" * 64, digest[:10], "..%2f..", "red.png"):
            assert (await reading.get(f"/runs/{run_id}/images/{name}")).status_code == 404
