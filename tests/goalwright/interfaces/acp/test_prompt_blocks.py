"""Conversion of prompt blocks to a goal."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest
from acp.helpers import (
    audio_block,
    embedded_text_resource,
    image_block,
    resource_block,
    resource_link_block,
    text_block,
)

from goalwright.interfaces.acp.prompt_blocks import answer_of, goal_of
from goalwright_skills.errors import InputError
from tests.image_bytes import bomb, png

if TYPE_CHECKING:
    from pathlib import Path


def test_text_links_and_embedded_files_become_one_goal_with_files(tmp_path: Path) -> None:
    (tmp_path / "a b.md").write_text("x", encoding="utf-8")
    goal = goal_of(
        [
            text_block("Summarise "),
            text_block("this"),
            resource_link_block("a b.md", (tmp_path / "a b.md").as_uri()),
            resource_block(embedded_text_resource("file:///draft.md", "unsaved words")),
        ],
        tmp_path,
        "run-1",
    )
    assert goal.text == 'Summarise this\n\n<file path="file:///draft.md">\nunsaved words\n</file>'
    assert goal.files == (tmp_path / "a b.md",)


def test_answer_contains_linked_paths_and_refuses_images(tmp_path: Path) -> None:
    workspace, beside = tmp_path / "work", tmp_path / "beside.md"
    workspace.mkdir()
    for path in (workspace / "a b.md", beside):
        path.write_text("x", encoding="utf-8")
    links = [resource_link_block(path.name, path.as_uri()) for path in (workspace / "a b.md", beside)]
    text = answer_of([text_block("like "), links[0], text_block(" or "), links[1]], workspace)
    assert text == f"like a b.md or {beside}"
    image = image_block(base64.b64encode(png(64, 48)).decode(), "image/png")
    with pytest.raises(InputError, match="must be text"):
        answer_of([text_block("like this"), image], workspace)
    assert not (workspace / ".agents").exists()


@pytest.mark.parametrize("uri", ["https://example.org/a.md", "file://elsewhere/a.md", "file:///no/such/file.md"])
def test_link_to_a_remote_file_is_refused(tmp_path: Path, uri: str) -> None:
    with pytest.raises(InputError):
        goal_of([text_block("read"), resource_link_block("a", uri)], tmp_path, "run-1")


def test_image_is_stored_in_the_folder_of_its_run(tmp_path: Path) -> None:
    data = png(64, 48)
    goal = goal_of([text_block("look"), image_block(base64.b64encode(data).decode(), "text/html")], tmp_path, "run-1")
    (file,) = goal.files
    assert (file.read_bytes(), file.suffix) == (data, ".png")
    assert file.parent == tmp_path / ".agents" / "runs" / "run-1" / "files"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ("AAAA", "not a PNG, JPEG, GIF or WebP"),
        ("not base64!", "not base64"),
        (base64.b64encode(bomb(60_000, 2)).decode(), "60,000 × 2 pixels"),
        ("A" * 6_000_000, "cannot be shown"),
    ],
)
def test_unsupported_image_is_refused_and_leaves_no_file(tmp_path: Path, data: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        goal_of([text_block("look"), image_block(data, "image/png")], tmp_path, "run-1")
    assert not list(tmp_path.iterdir())


def test_unsupported_block_is_refused_by_type(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="block of type audio"):
        goal_of([text_block("listen"), audio_block("AAAA", "audio/wav")], tmp_path, "run-1")


def test_prompt_without_text_or_with_a_huge_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no text"):
        goal_of([text_block("  ")], tmp_path, "run-1")
    with pytest.raises(InputError, match="more than 200,000"):
        goal_of([text_block("x"), resource_block(embedded_text_resource("f", "y" * 200_001))], tmp_path, "run-1")
