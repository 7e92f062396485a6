"""ReadFile and ListFiles: results and refusals."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goalwright_skills.builtin.read_file import ReadFile
from goalwright_skills.builtin.readable_roots import ReadableRoots, of
from goalwright_skills.builtin.search.list_files import ListFiles
from goalwright_skills.discovery.registry import Registry
from goalwright_skills.tools.envelope import TEXT_LIMIT, Envelope
from tests.image_bytes import bomb, png
from tests.needs import needs_non_root
from tests.skills.tree import put


def code(envelope: Envelope) -> str:
    assert envelope.error is not None
    assert envelope.status == "error"
    assert envelope.to_dict()["error"]["message"] == envelope.text
    return envelope.error.code


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    (work / "sub").mkdir(parents=True)
    (work / "a.md").write_text("hello\n")
    (work / "sub/b.txt").write_text("below\n")
    (tmp_path / "secret.md").write_text("SECRET")
    return work


async def read(workspace: Path, path: Any, **more: Any) -> Envelope:
    return await ReadFile(ReadableRoots(workspace)).call({"path": path, **more})


async def test_reads_relative_and_absolute_paths(workspace: Path) -> None:
    for path in ("a.md", "./sub/../a.md", str(workspace / "a.md")):
        envelope = await read(workspace, path)
        assert (envelope.status, envelope.text) == ("success", "hello\n")
        assert envelope.context.path_resolved == str((workspace / "a.md").resolve())
        assert envelope.to_dict()["context"]["params_input"] == {"path": path}


async def test_long_file_is_read_in_parts(workspace: Path) -> None:
    text = "".join(f"line {number}\n" for number in range(3_000))
    (workspace / "long.txt").write_text(text)
    offset, got = 0, ""
    for _ in range(10):
        envelope = await read(workspace, "long.txt", offset=offset)
        assert len(envelope.text) <= TEXT_LIMIT
        got += text[offset : envelope.data["end"]]
        assert envelope.text.startswith(text[offset : envelope.data["end"]])
        if envelope.status == "success":
            break
        assert f"offset={envelope.data['end']}" in envelope.text
        offset = envelope.data["end"]
    assert got == text
    part = await read(workspace, "long.txt", offset=5, limit=10)
    assert part.status == "partial"
    assert part.text.startswith(text[5:15] + "\n[")


@pytest.mark.parametrize("path", ["../secret.md", "/etc/passwd", "sub/../../secret.md", "link.md", "folder/secret.md"])
async def test_paths_outside_the_roots_are_refused(workspace: Path, path: str) -> None:
    (workspace / "link.md").symlink_to(workspace.parent / "secret.md")
    (workspace / "folder").symlink_to(workspace.parent)
    envelope = await read(workspace, path)
    assert code(envelope) == "ACCESS_DENIED"
    assert "SECRET" not in envelope.to_json()


async def test_links_inside_are_followed(workspace: Path) -> None:
    (workspace / "link.md").symlink_to("a.md")
    assert (await read(workspace, "link.md")).text == "hello\n"


async def test_skills_folders_and_further_roots_are_readable(workspace: Path) -> None:
    skill, extra = workspace.parent / "skill", workspace.parent / "extra"
    for folder in (skill, extra):
        folder.mkdir()
        (folder / "x.md").write_text(folder.name)
    (workspace.parent / "linked").symlink_to(skill)
    roots = ReadableRoots(workspace, lambda: [skill, workspace.parent / "linked"], [extra])
    for path, text in ((skill, "skill"), (extra, "extra"), (workspace.parent / "linked", "skill")):
        assert (await ReadFile(roots).call({"path": str(path / "x.md")})).text == text
    assert code(await ReadFile(roots).call({"path": str(workspace.parent / "secret.md")})) == "ACCESS_DENIED"


async def test_folders_of_registered_skills_are_readable(workspace: Path) -> None:
    put(workspace / "home/.claude/skills/far", "far", body="Far away.\n")
    inner = workspace / "inner"
    found = Registry(inner, env={}, home=workspace / "home", library=workspace / "library")
    path = workspace / "home/.claude/skills/far/SKILL.md"
    assert (await ReadFile(of(found)).call({"path": str(path)})).text.endswith("Far away.\n")
    assert code(await ReadFile(of(found)).call({"path": str(workspace / "a.md")})) == "ACCESS_DENIED"


async def test_only_regular_text_files_are_read(workspace: Path) -> None:
    (workspace / "b.md").write_bytes(b"a\0b")
    (workspace / "d.md").write_bytes(b"")
    os.truncate(workspace / "d.md", 21 * 1024 * 1024)
    os.mkfifo(workspace / "e.md")
    assert code(await read(workspace, "b.md")) == "BINARY_FILE"
    assert code(await read(workspace, "d.md")) == "INVALID_PARAM"
    assert code(await read(workspace, "e.md")) == "ACCESS_DENIED"
    assert code(await read(workspace, "sub")) == "IS_DIRECTORY"
    assert code(await read(workspace, "none.md")) == "NOT_FOUND"
    assert code(await read(workspace, "a.md/x")) == "NOT_FOUND"
    assert code(await read(Path("/"), "/proc/self/environ")) == "ACCESS_DENIED"
    assert code(await read(Path("/"), "/dev/null")) == "ACCESS_DENIED"


@needs_non_root
async def test_unreadable_file_is_permission_denied(workspace: Path) -> None:
    (workspace / "a.md").chmod(0)
    assert code(await read(workspace, "a.md")) == "PERMISSION_DENIED"


@pytest.mark.parametrize("arguments", [{}, {"path": 3}, {"path": ""}, {"path": "a\0b"}, {"path": "a.md", "offset": -1}])
async def test_invalid_parameters_are_refused(workspace: Path, arguments: dict[str, Any]) -> None:
    assert code(await ReadFile(ReadableRoots(workspace)).call(arguments)) == "INVALID_PARAM"


async def test_invalid_offset_or_limit_is_refused(workspace: Path) -> None:
    assert code(await read(workspace, "a.md", offset=99)) == "INVALID_PARAM"
    assert code(await read(workspace, "a.md", limit="x")) == "INVALID_PARAM"


async def test_lists_a_folder(workspace: Path) -> None:
    envelope = await ListFiles(ReadableRoots(workspace)).call({"path": "."})
    assert envelope.text == "a.md (6 bytes)\nsub/\n"
    assert code(await ListFiles(ReadableRoots(workspace)).call({"path": "a.md"})) == "INVALID_PARAM"
    assert code(await ListFiles(ReadableRoots(workspace)).call({"path": ".."})) == "ACCESS_DENIED"
    assert code(await ListFiles(ReadableRoots(workspace)).call({"path": "none"})) == "NOT_FOUND"


async def test_large_listing_is_truncated(workspace: Path) -> None:
    for number in range(1_000):
        (workspace / f"sub/{number:04}.txt").touch()
    envelope = await ListFiles(ReadableRoots(workspace)).call({"path": "sub"})
    assert envelope.status == "partial"
    assert len(envelope.text) <= TEXT_LIMIT
    assert envelope.data["total"] == 1_001


PARTS = st.sampled_from(["..", ".", "sub", "a.md", "link.md", "out", "secret.md", "/", "//", "~", "b.txt", "\0", "etc"])


@given(st.lists(PARTS, max_size=8).map("/".join))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_path_escapes(workspace: Path, path: str) -> None:
    import asyncio

    for name, target in (("link.md", "secret.md"), ("out", "")):
        if not (workspace / name).is_symlink():
            (workspace / name).symlink_to(workspace.parent / target)
    envelope = asyncio.run(read(workspace, path))
    assert "SECRET" not in envelope.to_json()
    if envelope.status != "error":
        assert Path(envelope.data["path"]).is_relative_to(workspace.resolve())


@pytest.mark.parametrize("name", ["LICENSE", "Makefile", ".gitignore", "go.mod", "nginx.conf", "notes.org", "a.exe"])
async def test_text_is_recognised_by_content(workspace: Path, name: str) -> None:
    (workspace / name).write_text("plain text")
    envelope = await read(workspace, name)
    assert (envelope.status, envelope.text) == ("success", "plain text")


@pytest.mark.parametrize(
    ("data", "what"), [(b"\x7fELF\0\0", "not a text file"), (b"%PDF-1.7 looks", "a PDF, not a text")]
)
async def test_binary_data_is_recognised_by_content(workspace: Path, data: bytes, what: str) -> None:
    (workspace / "notes.md").write_bytes(data)
    envelope = await read(workspace, "notes.md")
    assert code(envelope) == "BINARY_FILE"
    assert f"notes.md is {what}" in envelope.text


async def test_errors_name_the_value_and_the_next_step(workspace: Path) -> None:
    (workspace / "b.md").write_bytes(b"x\0y")
    past = await read(workspace, "a.md", offset=99)
    assert "offset 99" in past.text
    assert "use an offset from 0 to 6" in past.text
    binary = await read(workspace, "b.md")
    assert f"{workspace}/b.md" in binary.text
    assert "read another file" in binary.text
    wrong = await read(workspace, "a.md", limit="many")
    assert "'many'; omit it" in wrong.text
    for tool in (ReadFile(ReadableRoots(workspace)), ListFiles(ReadableRoots(workspace))):
        missing = await tool.call({"path": "sub/none/at/all.md"})
        assert f"{workspace}/sub/none/at/all.md does not exist; ListFiles on {workspace}/sub shows" in missing.text


HIDDEN = [".env", ".env.local", "sub/.ENV", "sub/tls.pem", "a.KEY", ".git/config", ".mcp.json", "goalwright.toml",
          "sub/goalwright.toml", ".agents/journal.md", ".agents/runs/r2/x.md", ".agents/skills/.env.md"]  # fmt: skip


def hide(workspace: Path) -> ReadableRoots:
    for name in (*HIDDEN, ".agents/skills/x/SKILL.md", ".agents/runs/r1/artifacts/made.md"):
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text("SECRET")
    return ReadableRoots(workspace, artifacts=workspace / ".agents/runs/r1/artifacts")


@pytest.mark.parametrize("name", HIDDEN)
async def test_hidden_files_cannot_be_read(workspace: Path, name: str) -> None:
    roots = hide(workspace)
    for path in (name, str(workspace / name), f"sub/../{name}"):
        envelope = await ReadFile(roots).call({"path": path})
        assert code(envelope) == "ACCESS_DENIED"
        assert "SECRET" not in envelope.to_json()


async def test_hidden_files_cannot_be_read_through_links(workspace: Path) -> None:
    roots = hide(workspace)
    (workspace / "notes.md").symlink_to(".env")
    (workspace / "dir").symlink_to(".agents")
    (workspace / ".env.md").symlink_to("a.md")
    for path in ("notes.md", "dir/journal.md", "dir/../.agents/journal.md", ".env.md"):
        assert code(await ReadFile(roots).call({"path": path})) == "ACCESS_DENIED"
    assert code(await ListFiles(roots).call({"path": "dir"})) == "ACCESS_DENIED"


async def test_skills_and_artifacts_can_be_read(workspace: Path) -> None:
    roots = hide(workspace)
    for path in (".agents/skills/x/SKILL.md", ".agents/runs/r1/artifacts/made.md"):
        assert (await ReadFile(roots).call({"path": path})).text == "SECRET"


async def test_listing_omits_hidden_files(workspace: Path) -> None:
    roots = hide(workspace)
    text = (await ListFiles(roots).call({"path": "."})).text + (await ListFiles(roots).call({"path": "sub"})).text
    for name in (".env", ".git", ".mcp", "goalwright.toml", ".agents", "pem", "KEY"):
        assert name not in text
    assert "a.md" in text
    for path in (".git", ".agents", ".agents/runs"):
        assert code(await ListFiles(roots).call({"path": path})) == "ACCESS_DENIED"
    assert "x/" in (await ListFiles(roots).call({"path": ".agents/skills"})).text


async def test_given_file_is_readable_even_if_hidden(workspace: Path) -> None:
    hide(workspace)
    (workspace / "goalwright.toml").write_text("given")
    (workspace / "service.key").write_text("given too")
    given = ReadableRoots(workspace, extra=[workspace / "goalwright.toml", workspace / "service.key"])
    assert (await ReadFile(given).call({"path": "goalwright.toml"})).text == "given"
    assert (await ReadFile(given).call({"path": "service.key"})).text == "given too"
    assert "goalwright.toml" in (await ListFiles(given).call({"path": "."})).text
    assert code(await ReadFile(given).call({"path": ".env"})) == "ACCESS_DENIED"


async def test_linked_skill_does_not_expose_another_project(workspace: Path) -> None:
    other = workspace.parent / "other"
    for name in ("SKILL.md", "secret.md", ".git/x.md", "references/guide.md", "references/.env.md"):
        (other / name).parent.mkdir(parents=True, exist_ok=True)
        (other / name).write_text(name)
    (workspace / "skills").mkdir()
    link = workspace / "skills" / "far"
    link.symlink_to(other)
    roots = ReadableRoots(workspace, lambda: [link])
    for name in ("SKILL.md", "references/guide.md"):
        assert (await ReadFile(roots).call({"path": str(link / name)})).text == name
    for path in (
        link / "secret.md",
        other / "secret.md",
        link / ".git/x.md",
        link / "references/.env.md",
        link / "../secret.md",
    ):
        assert code(await ReadFile(roots).call({"path": str(path)})) == "ACCESS_DENIED"


async def test_link_out_of_the_workspace_exposes_only_the_skill(workspace: Path) -> None:
    other = workspace.parent / "plain"
    for name in ("SKILL.md", "guide.md", "secret.txt", "src/deep.md"):
        (other / name).parent.mkdir(parents=True, exist_ok=True)
        (other / name).write_text(name)
    (workspace / "skills").mkdir()
    link = workspace / "skills" / "near"
    link.symlink_to(other)
    roots = ReadableRoots(workspace, lambda: [link])
    assert (await ReadFile(roots).call({"path": str(link / "guide.md")})).text == "guide.md"
    for name in ("secret.txt", "src/deep.md"):
        assert code(await ReadFile(roots).call({"path": str(link / name)})) == "ACCESS_DENIED"


async def test_image_is_attached_and_broken_image_is_refused(workspace: Path) -> None:
    (workspace / "sub/shot").write_bytes(png(640, 480))
    envelope = await read(workspace, "sub/shot")
    assert envelope.text == f"sub/shot (image/png, 640 × 480 pixels, {len(png(640, 480)):,} bytes) is an image."
    assert envelope.data == {"path": str((workspace / "sub/shot").resolve())}
    assert [image.name for image in envelope.images] == ["sub/shot"]
    assert Envelope.from_dict(envelope.to_dict()) == envelope
    (workspace / "bomb.png").write_bytes(bomb(60_000, 60_000))
    refused = await read(workspace, "bomb.png")
    assert code(refused) == "BINARY_FILE"
    assert "is an image that cannot be shown: it has 60,000 × 60,000 pixels" in refused.text
    assert "images" not in refused.to_dict()
