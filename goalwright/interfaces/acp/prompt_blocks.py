"""Converts the blocks of a prompt to a goal: text, linked files, embedded texts and images."""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from acp.schema import (
    EmbeddedResourceContentBlock,
    ImageContentBlock,
    ResourceContentBlock,
    TextContentBlock,
    TextResourceContents,
)

from goalwright.runs.goal import Goal
from goalwright_executor.results.artifacts import make_home
from goalwright_skills import image_file, safe_files
from goalwright_skills.errors import InputError
from goalwright_skills.image_file import MOST_BYTES
from goalwright_skills.text.formatting import escape

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_MAX_EMBEDDED = 200_000  # characters of one file
_MAX_TEXT = 1_000_000  # characters of a prompt
_MAX_FILES = 200
_LINK = "link the file instead of sending its text"
_CLOSING_TAG = re.compile(r"<(?=\s*/\s*file\b)", re.IGNORECASE)
_MAX_ENCODED = (MOST_BYTES // 3 + 1) * 4


def goal_of(blocks: Sequence[Any], workspace: Path, run_id: str) -> Goal:
    """Return the goal: linked files become its files, and embedded texts are appended to its text.

    Images are stored as files in the folder of the run. Raises InputError for unsupported blocks and without text.
    """
    texts: list[str] = []
    below: list[str] = []
    files: list[Path] = []
    for block in blocks:
        if isinstance(block, TextContentBlock):
            texts.append(block.text)
        elif isinstance(block, ResourceContentBlock | ImageContentBlock):
            if len(files) == _MAX_FILES:
                raise InputError(f"the prompt has more than {_MAX_FILES} files", hint="link the folder's main ones")
            if isinstance(block, ImageContentBlock):
                files.append(_stored_image(block.data, workspace, run_id))
            else:
                files.append(_linked_path(block.uri, workspace))
        elif isinstance(block, EmbeddedResourceContentBlock) and isinstance(block.resource, TextResourceContents):
            below.append(_embedded_text(block.resource))
        else:
            kind = getattr(block, "type", type(block).__name__)
            raise InputError(
                f"the prompt has a block of type {kind}, which goalwright does not support", hint="send text"
            )
    text = "".join(texts).strip()
    if not text:
        raise InputError("the prompt has no text", hint="describe the goal")
    if (size := len(text) + sum(map(len, below))) > _MAX_TEXT:
        raise InputError(f"the prompt has {size:,} characters, more than {_MAX_TEXT:,}", hint=_LINK)
    return Goal("\n\n".join([text, *below]), files=tuple(dict.fromkeys(files)))


def answer_of(blocks: Sequence[Any], workspace: Path) -> str:
    """Return the text of an answer to a question, with the paths of linked files.

    Raises InputError for images and unsupported blocks.
    """
    if any(isinstance(block, ImageContentBlock) for block in blocks):
        raise InputError(
            "the answer to a question must be text, and the prompt has an image", hint="save it, and link the file"
        )
    return goal_of([_with_path(block, workspace) for block in blocks], workspace, "").text


def _with_path(block: Any, workspace: Path) -> Any:
    if not isinstance(block, ResourceContentBlock):
        return block
    path = _linked_path(block.uri, workspace)
    return TextContentBlock(
        type="text", text=str(path.relative_to(workspace) if path.is_relative_to(workspace) else path)
    )


def _linked_path(uri: str, workspace: Path) -> Path:
    try:
        parts = urlsplit(uri)
    except ValueError as error:
        raise InputError(f"the link {uri[:200]!r} cannot be read: {error}", hint="link a file") from error
    if parts.scheme not in ("", "file") or parts.netloc not in ("", "localhost"):
        raise InputError(f"the link {uri[:200]} is not a local file", hint="link a file on this machine")
    path = workspace / unquote(parts.path)
    if not path.is_file():
        raise InputError(f"there is no file {path}", hint="save it first")
    return path


def _stored_image(encoded: str, workspace: Path, run_id: str) -> Path:
    """Store an image of the prompt in a file named after its content."""
    try:
        data = base64.b64decode(encoded, validate=True) if len(encoded) <= _MAX_ENCODED else bytes(MOST_BYTES + 1)
        image = image_file.read(data, "it")
    except binascii.Error as error:
        raise InputError("an image of the prompt is not base64", hint="send it again") from error
    except image_file.UnfitImage as error:
        raise InputError(f"an image of the prompt cannot be shown: {error}", hint="send another one") from error
    suffix = image.type.partition("/")[2]
    folder = workspace / ".agents" / "runs" / run_id / "files"
    path = folder / f"image-{image.sha256[:12]}.{suffix}"
    make_home(workspace / ".agents")
    safe_files.write(path, data, below=workspace)
    return path


def _embedded_text(resource: TextResourceContents) -> str:
    if len(resource.text) > _MAX_EMBEDDED:
        raise InputError(
            f"{resource.uri[:200]} has {len(resource.text):,} characters, more than {_MAX_EMBEDDED:,}",
            hint=_LINK,
        )
    path = escape(resource.uri[:500]).replace('"', "&quot;")
    text = _CLOSING_TAG.sub("&lt;", resource.text)  # the text must not close the tag around it
    return f'<file path="{path}">\n{text}\n</file>'
