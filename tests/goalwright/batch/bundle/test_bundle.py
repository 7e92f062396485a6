"""The contents of a bundle, and how a worker uses it."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import os
import tarfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from goalwright.batch.bundle import archive
from goalwright.batch.bundle.archive import BundleFile, BundleManifest, BundleRefused
from goalwright.batch.bundle.pack import Bundle, pack
from goalwright.batch.bundle.unpack import UnpackedBundle, remove, unpack
from goalwright.batch.goals import BatchGoal
from goalwright.runs.runtime import Goalwright
from goalwright.settings.paths import Paths
from goalwright.settings.settings import Settings
from goalwright.traces.strict_replay import strict
from goalwright_executor.approvals.policy import ApprovalRule
from goalwright_executor.journal import trace_file
from goalwright_planner.events import CallStarted
from goalwright_planner.model import Reply, Request, Usage
from goalwright_skills.programs.fingerprint import fingerprint
from tests.conftest import CATALOGING, add_skill, trust
from tests.fakes import Recorder, ScriptedModel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

GOAL = BatchGoal("g1", 1, "Write API documentation from notes.md with the greeting")
KEY = "sk-proj-A7h2bXq9TzW4mNs8"
PASSWORD = "tr0ub4dor&3 horse"


@pytest.fixture
def sender(tmp_path: Path, own_home: Path) -> Path:
    """A workspace with skills in several places, a trusted program, a template, and things that must not travel."""
    folder = tmp_path / "sender" / "work"
    add_skill(folder, "cataloging-apis", CATALOGING)
    own = own_home / ".agents" / "skills" / "greeting-people"
    own.mkdir(parents=True)
    (own / "SKILL.md").write_text("---\nname: greeting-people\ndescription: Write a greeting.\n---\nSay hello.\n")
    (own / ".env").write_text(f"OPENAI_API_KEY={KEY}")
    tool = folder / ".agents" / "skills" / "note"
    tool.mkdir(parents=True)
    (tool / "skill.yaml").write_text("name: note_add\ndescription: Add a note.\nruntime: python\nentry: main.py\n")
    (tool / "main.py").write_text('print(\'{"status": "ok", "content": "noted"}\')\n')
    (folder / "notes.md").write_text("Endpoints: /a and /b")
    (folder / "private.md").write_text("nobody named this file")
    (folder / ".env").write_text(f"OPENAI_API_KEY={KEY}")
    (folder / "goalwright.toml").write_text('api_base = "https://elsewhere.example/v1"\n')
    return folder


@pytest.fixture
def unpacked(tmp_path: Path) -> Iterator[Callable[[Bundle, str], UnpackedBundle]]:
    """Unpack a bundle on a "node", which is a folder."""
    made: list[Path] = []

    def on(bundle: Bundle, node: str = "node") -> UnpackedBundle:
        found = unpack(bundle.data, bundle.sha256, tmp_path / node / "bundles")
        made.append(found.folder)
        return found

    yield on
    for folder in made:
        remove(folder)


def names(bundle: Bundle) -> set[str]:
    with tarfile.open(fileobj=io.BytesIO(bundle.data)) as tar:
        return set(tar.getnames())


def replying(request: Request) -> Reply:
    names = ("greeting-people", "cataloging-apis")
    plan = {"tasks": [{"id": name[:1], "action_type": "skill", "name": name, "instruction": "Do it"} for name in names]}
    text = json.dumps(plan) if request.role == "decomposer" else "hello"
    return Reply(text, usage=Usage(1, 10, 5), cost=0.01)


def test_equal_files_give_equal_bundles(sender: Path, tmp_path: Path) -> None:
    goalwright = Goalwright(sender, Settings(model="openai/x"))
    first = pack(goalwright, [GOAL])
    for path in sender.rglob("*"):
        os.utime(path, (1, 1))
    moved = tmp_path / "elsewhere"
    sender.rename(moved)
    assert pack(Goalwright(moved, Settings(model="openai/x")), [GOAL]) == first
    assert names(first) == {
        "bundle.json",
        "workspace/goalwright.toml",
        "workspace/notes.md",
        "workspace/.agents/.gitignore",
        "workspace/skills/cataloging-apis/SKILL.md",
        "workspace/.agents/skills/note/skill.yaml",
        "workspace/.agents/skills/note/main.py",
        "home/.agents/skills/greeting-people/SKILL.md",
    }
    with tarfile.open(fileobj=io.BytesIO(first.data)) as tar:
        assert all((entry.mtime, entry.uid, entry.gid, entry.uname) == (0, 0, 0, "") for entry in tar)
        assert {entry.mode for entry in tar} == {0o444}


def test_no_secret_is_packed(sender: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    trust(sender)
    settings = Settings(
        model="openai/x",
        journal=f"postgresql://goalwright:{quote(PASSWORD)}@db/goalwright",
        api_base=f"https://u:{KEY}@host/v1",
        approvals=(ApprovalRule("note_*", "ask"),),
    )
    bundle = pack(Goalwright(sender, settings), [GOAL])
    for secret in (KEY, PASSWORD):
        forms = {secret, quote(secret), secret.encode().hex(), base64.b64encode(secret.encode()).decode()}
        forms |= {base64.b64encode(b"x" * shift + secret.encode()).decode()[4:-4] for shift in (1, 2)}
        assert not [form for form in forms if form.encode() in bundle.data]
    assert b"elsewhere.example" not in bundle.data
    assert b"postgresql" not in bundle.data
    for hiding in (KEY, base64.b64encode(KEY.encode()).decode(), quote(KEY, safe="")):
        (sender / "notes.md").write_text(f"the key is {hiding}")
        with pytest.raises(BundleRefused, match=r"notes\.md contains a key"):
            pack(Goalwright(sender, settings), [GOAL])


def test_model_with_address_is_refused_before_sending(sender: Path) -> None:
    for settings in (Settings(model="openai/http://10.0.0.1/v1"), Settings(fallback=("oobabooga/http://host",))):
        with pytest.raises(BundleRefused, match="address"):
            pack(Goalwright(sender, settings))


@pytest.mark.parametrize("where", ["outside", "work/drafts"])
def test_local_skills_dir_is_refused(sender: Path, where: str) -> None:
    folder = sender.parent / where
    add_skill(folder, "drafting", "---\nname: drafting\ndescription: Write drafts.\n---\nx\n")
    with pytest.raises(BundleRefused, match="skills_dir is a folder on this machine"):
        pack(Goalwright(sender, Settings(model="m", skills_dir=str(folder))))


def test_bundled_settings_are_untrusted(sender: Path, own_home: Path, unpacked: Callable[..., UnpackedBundle]) -> None:
    rules = (ApprovalRule("note_*", "deny"), ApprovalRule("excel_*", "allow"))
    own = Settings(
        model="openai/x",
        fallback=("openai/y",),
        models={"fast": "openai/z"},
        max_tasks=20,
        tool_calls=500,
        approve="never",
        approvals=rules,
        unsafe_tools=True,
        stream_plan=False,
    )
    here = unpacked(pack(Goalwright(sender, own)))
    config = own_home / ".config" / "goalwright" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('api_base = "https://worker.example/v1"\n')
    resolved = here.resolved()
    found = resolved.settings
    assert (found.model, found.fallback, found.models) == ("openai/x", ("openai/y",), {"fast": "openai/z"})
    assert (found.max_tasks, found.tool_calls, found.approve, found.unsafe_tools) == (20, 30, "writes", False)
    assert [str(rule) for rule in found.approvals if rule.decision == "deny"] == ["deny note_*"]
    assert all(rule.floor for rule in found.approvals)
    assert found.api_base == "https://worker.example/v1"
    assert any("tool_calls" in warning for warning in resolved.warnings)
    hostile = archive.archive(
        archive.read_folder(here.folder)
        | {
            PurePosixPath("workspace/goalwright.toml"): BundleFile(
                b'api_base = "http://evil"\nmodel = "openai/http://evil"\n'
            )
        }
    )
    there = unpacked(Bundle(archive.sha256(hostile), hostile), "other").resolved().settings
    assert (there.api_base, there.model) == ("https://worker.example/v1", None)


def test_trusted_programs_run_only_where_worker_allows_programs(
    sender: Path, own_home: Path, unpacked: Callable[..., UnpackedBundle]
) -> None:
    goalwright = Goalwright(sender, Settings(model="openai/x"))
    untrusted = unpacked(pack(goalwright), "untrusted")
    goalwright.workspace.tools.trust_all()
    trusted = unpacked(pack(goalwright), "trusted")
    assert trusted.manifest.trusted == (fingerprint(sender / ".agents" / "skills" / "note"),)
    assert trusted.manifest.trusted == (fingerprint(trusted.workspace / ".agents" / "skills" / "note"),)
    (Paths.of(sender, os.environ).trust).unlink()  # the worker's user is another

    def allowed(bundle: UnpackedBundle) -> bool:
        return not Goalwright(settings=bundle.resolved().settings, paths=bundle.paths()).workspace.tools.untrusted()

    assert (allowed(untrusted), allowed(trusted)) == (False, False)
    config = own_home / ".config" / "goalwright" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("allow_programs = true\n")
    assert (allowed(untrusted), allowed(trusted)) == (False, True)


def test_user_program_of_sender_is_not_trusted_as_worker_own(
    sender: Path, own_home: Path, unpacked: Callable[..., UnpackedBundle]
) -> None:
    (sender / ".agents" / "skills" / "note").rename(own_home / ".agents" / "skills" / "note")
    here = unpacked(pack(Goalwright(sender, Settings(model="openai/x"))))
    tools = Goalwright(settings=Settings(), paths=here.paths()).workspace.tools
    assert [row.name for row in tools.untrusted()] == ["note_add"]


def test_templates_are_refused_where_programs_are_not_allowed(
    sender: Path, own_home: Path, unpacked: Callable[..., UnpackedBundle]
) -> None:
    seed = sender / ".agents" / "seed"
    seed.mkdir()
    (seed / "task.j2").write_text("{% extends 'goalwright/task.j2' %}")
    goalwright = Goalwright(sender, Settings(model="openai/x"))
    assert not unpacked(pack(goalwright), "untrusted").manifest.templates
    trust(sender)
    here = unpacked(pack(goalwright))
    with pytest.raises(BundleRefused, match="templates") as refused:
        here.paths()
    assert "allow_programs = true" in refused.value.hint
    config = own_home / ".config" / "goalwright" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("allow_programs = true\n")
    worker = Goalwright(settings=here.resolved().settings, paths=here.paths())
    assert worker.workspace.tools.trust.trusts_templates(worker.paths.workspace)


async def test_nodes_send_equal_requests_and_replay_has_no_drift(
    sender: Path, tmp_path: Path, unpacked: Callable[..., UnpackedBundle]
) -> None:
    bundle = pack(Goalwright(sender, Settings(model="scripted")), [GOAL])
    asked: list[list[str]] = []
    for node in ("a", "another/node/with/a/longer/path"):
        here = unpacked(bundle, node)
        settings = here.resolved(
            {**os.environ, "GOALWRIGHT_JOURNAL": f"sqlite:///{tmp_path}/{len(asked)}.sqlite"}
        ).settings
        events, model = Recorder(), ScriptedModel(replying)
        opened: Callable[[str], ScriptedModel] = {"scripted": model}.__getitem__
        async with Goalwright(settings=settings, open_model=opened, paths=here.paths()) as goalwright:
            here.check(goalwright.workspace.skills.registry)
            result = await goalwright.run(GOAL.text, record=events)
            lines = list(trace_file.lines(goalwright.journal.store.rows(result.run_id)))
        assert result.status == "done"
        said = "".join(message.content for request in model.asked for message in request.messages)
        assert str(here.folder / "home") in said, "prompts name folders of this node"
        asked.append([event.request for event in events.events if isinstance(event, CallStarted)])
        exported = [trace_file.parse(line, "run") for line in lines]
        replay = await strict(exported, Paths.of(sender, os.environ), Settings(model="scripted"))
        assert replay.drift == ()
    assert len(asked[0]) == 4
    assert asked[0] == asked[1]


def test_machine_with_different_skills_is_refused(sender: Path, unpacked: Callable[..., UnpackedBundle]) -> None:
    here = unpacked(pack(Goalwright(sender, Settings(model="openai/x"))))
    registry = Goalwright(settings=Settings(), paths=here.paths()).workspace.skills.registry
    here.check(registry)
    with pytest.raises(BundleRefused, match="skills differ from those of the sender: context cataloging-apis"):
        BundleManifest(catalogue={**here.manifest.catalogue, "context cataloging-apis": "other"}).check(registry)
    with pytest.raises(BundleRefused, match=r"made by goalwright 0\.0\.9"):
        BundleManifest(goalwright="0.0.9").check(registry)


def test_bundle_is_unpacked_once_read_only_and_revalidated(sender: Path, tmp_path: Path) -> None:
    bundle = pack(Goalwright(sender, Settings(model="openai/x")), [GOAL])
    root = tmp_path / "bundles"
    here = unpack(bundle.data, bundle.sha256, root)
    runs = here.workspace / ".agents" / "runs"
    assert (here.folder.stat().st_mode & 0o777, runs.stat().st_mode & 0o777) == (0o700, 0o700)
    assert {path.stat().st_mode & 0o222 for path in here.folder.rglob("*") if path != runs} == {0}
    (runs / "r1").mkdir()
    (runs / "r1" / "artifact.md").write_text("a run's own")
    assert unpack(bundle.data, bundle.sha256, root) == here
    assert [path.name for path in root.iterdir()] == [bundle.sha256]
    notes = here.workspace / "notes.md"
    notes.chmod(0o644)
    notes.write_text("changed")
    with pytest.raises(BundleRefused, match="has changed"):
        unpack(bundle.data, bundle.sha256, root)
    remove(here.folder)
    (root / bundle.sha256).symlink_to(tmp_path)
    with pytest.raises(BundleRefused, match="not a folder that only you"):
        unpack(bundle.data, bundle.sha256, root)
    with pytest.raises(BundleRefused, match="not the announced one"):
        unpack(bundle.data + b"x", bundle.sha256, root)


def _tar(*entries: tuple[tarfile.TarInfo, bytes]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for entry, data in entries:
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return made.getvalue()


def _entry(name: str, **values: Any) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    for key, value in values.items():
        setattr(entry, key, value)
    return entry


@pytest.mark.parametrize(
    "data",
    [
        _tar((_entry("../outside"), b"x")),
        _tar((_entry("/etc/outside"), b"x")),
        _tar((_entry("workspace/a"), b"x"), (_entry("workspace/b", type=tarfile.SYMTYPE, linkname="a"), b"")),
        _tar((_entry("workspace/b", type=tarfile.SYMTYPE, linkname="/etc"), b"")),
        _tar((_entry("workspace/b", type=tarfile.LNKTYPE, linkname="/etc/passwd"), b"")),
        _tar((_entry("workspace/null", type=tarfile.CHRTYPE), b"")),
        _tar((_entry("workspace/a"), b"x"), (_entry("workspace/a"), b"y")),
        _tar((_entry("workspace/a", mtime=5), b"x")),
        _tar((_entry("workspace/a", mode=0o4755), b"x")),
        b"not a tar at all",
        _tar((_entry("workspace/a"), b"x"))[:-700],
    ],
)
def test_hostile_archive_is_refused_and_leaves_nothing(data: bytes, tmp_path: Path) -> None:
    root = tmp_path / "bundles"
    with pytest.raises(BundleRefused):
        unpack(data, archive.sha256(data), root)
    assert list(root.iterdir()) == []
    assert not (tmp_path / "outside").exists()


def test_archive_with_huge_declared_size_is_refused(tmp_path: Path) -> None:
    head = _entry("workspace/huge", size=10**12).tobuf()
    with pytest.raises(BundleRefused, match="more than"):
        unpack(head, archive.sha256(head), tmp_path / "bundles")


def test_workers_unpack_concurrently(sender: Path, tmp_path: Path) -> None:
    bundle = pack(Goalwright(sender, Settings(model="openai/x")))

    async def both() -> list[UnpackedBundle]:
        one = (asyncio.to_thread(unpack, bundle.data, bundle.sha256, tmp_path / "b") for _ in range(8))
        return await asyncio.gather(*one)

    assert len({found.folder for found in asyncio.run(both())}) == 1
    assert [path.name for path in (tmp_path / "b").iterdir()] == [bundle.sha256]
