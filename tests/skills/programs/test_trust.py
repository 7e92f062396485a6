"""Trust depends on the content: a changed program must be trusted again."""

from __future__ import annotations

import hashlib
import json
import signal
from typing import TYPE_CHECKING

import pytest

from goalwright_skills.errors import GoalwrightError
from goalwright_skills.programs.fingerprint import all_files, fingerprint
from goalwright_skills.programs.trust import Trust

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "demo"
    path.mkdir()
    (path / "skill.yaml").write_text("name: demo_run")
    (path / "main.py").write_text("print(1)")
    return path


def test_new_tool_is_untrusted_until_the_user_trusts_it(tmp_path: Path, folder: Path) -> None:
    trust = Trust(tmp_path / "state" / "trust.json")
    assert not trust.is_trusted(folder, "workspace")
    trust.trust(folder)
    assert Trust(trust.path).is_trusted(folder, "workspace")


@pytest.mark.parametrize("source", ["bundled", "global"])
def test_bundled_tools_and_the_users_own_are_trusted(tmp_path: Path, folder: Path, source: str) -> None:
    assert Trust(tmp_path / "trust.json").is_trusted(folder, source)  # type: ignore[arg-type]


@pytest.mark.parametrize("change", ["edit", "add", "remove", "mode", "rename", "link"])
def test_a_changed_program_must_be_trusted_again(tmp_path: Path, folder: Path, change: str) -> None:
    outside = tmp_path / "shared.py"
    outside.write_text("a")
    (folder / "shared.py").symlink_to(outside)
    trust = Trust(tmp_path / "trust.json")
    trust.trust(folder)
    match change:
        case "edit":
            (folder / "main.py").write_text("print(2)")
        case "add":
            (folder / "lib").mkdir()
            (folder / "lib" / "new.py").touch()
        case "remove":
            (folder / "main.py").unlink()
        case "mode":
            (folder / "main.py").chmod(0o755)
        case "rename":
            (folder / "main.py").rename(folder / "other.py")
        case "link":
            outside.write_text("b")
    assert not trust.is_trusted(folder, "project")


def test_trust_survives_a_new_checkout_in_another_place(tmp_path: Path, folder: Path) -> None:
    trust = Trust(tmp_path / "trust.json")
    trust.trust(folder)
    assert trust.is_trusted(folder.rename(tmp_path / "moved"), "workspace")


def link(path: Path, target: Path | str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(target)


def to_itself(folder: Path) -> Path:
    link(folder / "self", ".")
    return folder / "main.py"


def to_an_ancestor(folder: Path) -> Path:
    link(folder / "lib" / "up", "../..")
    return folder.parent / "beside.py"


def two_to_one_folder(folder: Path) -> Path:
    shared = folder.parent / "shared"
    (shared / "deep").mkdir(parents=True)
    (shared / "deep" / "code.py").write_text("a")
    link(folder / "first", shared)
    link(folder / "second", shared)
    return shared / "deep" / "code.py"


def a_loop_of_two(folder: Path) -> Path:
    link(folder / "one" / "other", "../two")
    link(folder / "two" / "other", "../one")
    (folder / "one" / "code.py").write_text("a")
    return folder / "one" / "code.py"


def out_of_the_folder_and_back(folder: Path) -> Path:
    outside = folder.parent / "outside"
    link(outside / "back", folder)
    (outside / "code.py").write_text("a")
    link(folder / "out", outside)
    return outside / "code.py"


LINKS = [to_itself, to_an_ancestor, two_to_one_folder, a_loop_of_two, out_of_the_folder_and_back]


@pytest.mark.parametrize("make", LINKS, ids=lambda make: make.__name__)
def test_hash_of_linked_folders_terminates_and_depends_on_content(folder: Path, make: Callable[[Path], Path]) -> None:
    linked = make(folder)
    before = fingerprint(folder)
    assert fingerprint(folder) == before
    linked.write_text("changed")
    changed = fingerprint(folder)
    assert changed != before
    linked.write_text("changed once more")
    assert fingerprint(folder) not in (before, changed)


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (to_itself, ["self"]),
        (to_an_ancestor, ["lib/up"]),
        (two_to_one_folder, ["first", "first/deep/code.py", "second"]),
        (a_loop_of_two, ["one/code.py", "one/other", "one/other/other"]),
        (out_of_the_folder_and_back, ["out", "out/back", "out/code.py"]),
    ],
)
def test_each_real_folder_is_followed_once_and_every_link_is_hashed(
    folder: Path, make: Callable[[Path], Path], names: list[str]
) -> None:
    make(folder)
    found = [path.relative_to(folder).as_posix() for path in all_files(folder)]
    assert found == sorted(["main.py", "skill.yaml", *names])


@pytest.mark.parametrize("make", LINKS, ids=lambda make: make.__name__)
def test_changed_link_target_changes_the_hash(folder: Path, make: Callable[[Path], Path]) -> None:
    make(folder)
    before = fingerprint(folder)
    changed = next(path for path in sorted(folder.rglob("*")) if path.is_symlink())
    changed.unlink()
    elsewhere = folder.parent / "elsewhere"
    elsewhere.mkdir()
    changed.symlink_to(elsewhere)
    assert fingerprint(folder) != before


def test_links_to_the_folder_itself_are_followed_once(folder: Path) -> None:
    for number in range(8):
        (folder / f"self{number}").symlink_to(".")

    def stop(*_: object) -> None:
        raise AssertionError("the links are followed again and again")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(10)
    try:
        assert len(all_files(folder)) == 10
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def test_broken_link_is_hashed_by_its_target(folder: Path) -> None:
    (folder / "dangling").symlink_to("nowhere")
    before = fingerprint(folder)
    (folder / "dangling").unlink()
    (folder / "dangling").symlink_to("nowhere-else")
    assert fingerprint(folder) != before


def test_too_many_files_are_an_error_with_a_remedy(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goalwright_skills.programs.fingerprint.FILES_LIMIT", 1)
    with pytest.raises(GoalwrightError, match="more than 1 files") as caught:
        fingerprint(folder)
    assert "out of the tool's folder" in caught.value.hint


def test_workspace_trust_covers_its_settings(tmp_path: Path) -> None:
    trust = Trust(tmp_path / "trust.json")
    workspace = tmp_path / "w"
    workspace.mkdir()
    (workspace / "goalwright.toml").write_text("a = 1")
    assert not trust.trusts_workspace(workspace)
    trust.trust_workspace(workspace)
    assert trust.trusts_workspace(workspace)
    (workspace / "goalwright.toml").write_text("a = 2")
    assert not trust.trusts_workspace(workspace)


@pytest.mark.parametrize("folder_name", [".agents/seed", "prompts", "prompts/deep"])
def test_workspace_trust_covers_its_templates(tmp_path: Path, folder_name: str) -> None:
    trust = Trust(tmp_path / "trust.json")
    workspace = tmp_path / "w"
    (workspace / folder_name).mkdir(parents=True)
    (workspace / "goalwright.toml").write_text('seed = "prompts"')
    trust.trust_workspace(workspace)
    assert trust.trusts_workspace(workspace)
    (workspace / folder_name / "task.j2").write_text("evil")
    assert not trust.trusts_workspace(workspace)
    trust.trust_workspace(workspace)
    (workspace / folder_name / "task.j2").write_text("more evil")
    assert not trust.trusts_workspace(workspace)


def test_trust_without_templates_stays_valid(tmp_path: Path) -> None:
    settings = tmp_path / "goalwright.toml"
    settings.write_text("max_tasks = 3")
    key = hashlib.sha256(str(settings).encode() + b"\0" + settings.read_bytes()).hexdigest()
    (tmp_path / "trust.json").write_text(json.dumps({"workspaces": {key: {}}}))
    assert Trust(tmp_path / "trust.json").trusts_workspace(tmp_path)


@pytest.mark.parametrize("content", ["", "[]", "{", '{"tools": 3}'])
def test_a_broken_file_trusts_nothing(tmp_path: Path, folder: Path, content: str) -> None:
    path = tmp_path / "trust.json"
    path.write_text(content)
    assert not Trust(path).is_trusted(folder, "workspace")
    Trust(path).trust(folder)
    assert Trust(path).is_trusted(folder, "workspace")
