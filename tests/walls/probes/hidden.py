"""Hidden files of the workspace, and files outside it."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from tests.walls.registry import probe

if TYPE_CHECKING:
    from pathlib import Path

    from tests.skills.workbench import Workbench

SECRET = "s3cret-content"
NAMES = (".env", ".env.production", "deep/er/.Env", "tls/server.pem", "deep/id_rsa.KEY", ".git/config", "lib/.git/HEAD",
         ".mcp.json", "goalwright.toml", "deep/goalwright.toml", ".agents/journal.sqlite", ".agents/journal.sqlite-wal",
         ".agents/runs/other/artifacts/a.txt", "deep/.agents/skills/x", ".agents/skills/demo/.env")  # fmt: skip
SEARCH = """
import os
found = []
def check(path):
    try:
        if "s3" + "cret-content" in open(path, errors="replace").read(4096):
            found.append(path)
    except OSError:
        pass
for root in arguments["roots"]:
    for folder, folders, files in os.walk(root, followlinks=False):
        for name in files:
            check(os.path.join(folder, name))
for path in arguments["paths"]:
    check(path)
reply(" ".join(sorted(set(found))))
"""
PARAMETERS = [{"name": name, "type": "array", "required": True} for name in ("roots", "paths")]


def _plant(root: Path, *names: str) -> list[str]:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(SECRET)
    return [str(root / name) for name in names]


async def _search(bench: Workbench, roots: list[str], paths: list[str]) -> str:
    envelope = await bench.tool(SEARCH, parameters=PARAMETERS).call({"roots": roots, "paths": paths})
    return envelope.text if envelope.status == "success" else f"the attack did not run: {envelope.text}"


@probe("secrets, settings and the journal cannot be read")
async def names(bench: Workbench) -> str:
    planted = _plant(bench.workspace, *NAMES)
    return await _search(bench, [str(bench.workspace), "/proc/self/cwd/"], planted)


WATCH = """
import ctypes, os, subprocess, sys
libc = ctypes.CDLL(None, use_errno=True)
seen = []
for path in arguments["paths"]:
    try:
        seen += [os.getxattr(path, name).decode() for name in os.listxattr(path)]
    except OSError:
        pass
    try:
        seen += [os.getxattr(path, "user.note", follow_symlinks=False).decode()]
    except OSError:
        pass
watch = libc.inotify_init1(0o4000)
if watch >= 0:
    for path in arguments["roots"]:
        if libc.inotify_add_watch(watch, path.encode(), 0xFFF) >= 0:
            seen.append(f"watched {path}")
reply(" ".join(seen))
"""


@probe("folders outside cannot be watched, and extended attributes there cannot be read")
async def watched(bench: Workbench) -> str:
    outside = bench.root / "outside"
    outside.mkdir(exist_ok=True)
    (outside / "file.txt").write_text("x")
    with contextlib.suppress(OSError):  # without extended attributes, only watching is tested
        os.setxattr(outside / "file.txt", "user.note", SECRET.encode())
    arguments = {"roots": [str(outside)], "paths": [str(outside / "file.txt")]}
    envelope = await bench.tool(WATCH, parameters=PARAMETERS).call(arguments)
    return envelope.text if envelope.status == "success" else f"the attack did not run: {envelope.text}"


@probe("secrets cannot be read through links, hard links and other spellings")
async def links(bench: Workbench) -> str:
    workspace = bench.workspace
    _plant(workspace, ".env", ".git/config", ".agents/journal.sqlite")
    (workspace / "notes.txt").symlink_to(".env")
    (workspace / "data").symlink_to(".agents")
    (workspace / "data2").symlink_to(workspace / "data")
    (workspace / "loop").symlink_to(".")
    for number, name in enumerate((".env", ".git/config", ".agents/journal.sqlite")):
        os.link(workspace / name, workspace / f"hard{number}.txt")
    spellings = ["notes.txt", "data/journal.sqlite", "data2/journal.sqlite", "loop/.env", "loop/loop/.git/config",
               "hard0.txt", "hard1.txt", "hard2.txt", "skills/../.env", "/proc/self/cwd/.env",
               "/proc/self/root" + str(workspace / ".env"), "/proc/thread-self/cwd/.git/config"]  # fmt: skip
    return await _search(bench, [str(workspace)], spellings)


@probe("the home, other projects and linked projects cannot be read")
async def beyond(bench: Workbench) -> str:
    paths = _plant(bench.home, ".ssh/id", "letters.txt", "other/notes.txt", "other/SKILL.md.bak")
    (bench.home / "other" / ".git").mkdir()
    (bench.workspace / "out").symlink_to(bench.home / "other")
    (bench.workspace / ".agents").mkdir()
    (bench.workspace / ".agents" / "skills").symlink_to(bench.home / "other")
    through = [str(bench.workspace / "out" / "notes.txt"), str(bench.workspace / ".agents" / "skills" / "notes.txt")]
    return await _search(bench, [str(bench.home), str(bench.workspace)], [*paths, *through, "/etc/shadow"])


@probe("a skill's folder that links to another project reveals nothing of it")
async def linked_skill(bench: Workbench) -> str:
    other = bench.home / "other"
    paths = _plant(other, "notes.txt", "src/main.c", ".env", ".git/config")
    folder = bench.tool(SEARCH, parameters=PARAMETERS).manifest.folder
    for part in ("main.py", "skill.yaml"):
        (other / part).write_text((folder / part).read_text().replace("demo_run", "far_run"))
    link = bench.workspace / "skills" / "far"
    link.symlink_to(other)
    envelope = await bench.load(link).call({"roots": [str(other), str(link)], "paths": paths})
    return envelope.text if envelope.status == "success" else f"the attack did not run: {envelope.text}"


@probe("a tool's standard input can be opened as a file")
async def standard_input(bench: Workbench) -> str:
    text = (await bench.tool("reply(open('/dev/stdin').read()[:12])").call({})).text
    return "" if text == '{"arguments"' else f"it cannot: {text}"
