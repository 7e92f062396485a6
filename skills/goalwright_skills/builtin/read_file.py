"""`ReadFile`: reads a text file or an image."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from goalwright_skills import image_file
from goalwright_skills.builtin.reading_tool import ReadingTool, in_thread, number
from goalwright_skills.text.untrusted import why_not_text
from goalwright_skills.tools.envelope import TEXT_LIMIT
from goalwright_skills.tools.parameter import integer_parameter, string_parameter, tool_parameters
from goalwright_skills.tools.tool import ToolFault

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from goalwright_skills.tools.envelope import Envelope

SIZE_LIMIT = 20 * 1024 * 1024


class ReadFile(ReadingTool):
    """Reads part of a text file below the roots; an image is attached to the envelope."""

    name = "ReadFile"
    description = (
        "Read a text file of the workspace or of a skill's folder; a relative path begins at the workspace. "
        f"It returns at most {TEXT_LIMIT} characters and, if there are more, the offset to continue at."
    )
    parameters: ClassVar[Mapping[str, Any]] = tool_parameters(
        "path",
        path=string_parameter("The file, absolute or relative to the workspace."),
        offset=integer_parameter("The index of the first character; by default 0.", 0),
        limit=integer_parameter(f"The number of characters, {TEXT_LIMIT} at most.", 1),
    )

    async def call(self, arguments: Mapping[str, Any]) -> Envelope:
        """Read the file; every error has a reason and a next step."""
        answer = await in_thread(self._roots, arguments, self._read)
        image = answer.data.get("image")
        if image is None:
            return answer
        return replace(answer, data={"path": answer.data["path"]}, images=(msgspec.convert(image, image_file.Image),))

    def _read(self, real: Path, arguments: Mapping[str, Any]) -> tuple[str, dict[str, Any], bool]:
        offset = number(arguments, "offset", 0, 0)
        limit = min(number(arguments, "limit", TEXT_LIMIT, 1), TEXT_LIMIT)
        data = self._content(real)
        if image_file.type_of(data) is not None:
            image = self._image(real, data)
            return f"{image} is an image.", {"path": str(real), "image": msgspec.to_builtins(image)}, False
        text = self._text(real, data)
        if offset > len(text):
            raise ToolFault(
                "INVALID_PARAM",
                f"offset {offset} is past the end of {real}, which has {len(text)} characters; "
                f"use an offset from 0 to {len(text)}, or omit it",
            )
        end = min(offset + limit, len(text))
        note = ""
        if end < len(text):
            note = _note(end, len(text))
            end = max(offset + 1, min(end, offset + TEXT_LIMIT - len(note)))
            note = _note(end, len(text))
        details = {"path": str(real), "offset": offset, "end": end, "characters": len(text)}
        return text[offset:end] + note, details, bool(note)

    def _image(self, real: Path, data: bytes) -> image_file.Image:
        inside = real.is_relative_to(self._roots.workspace)
        try:
            return image_file.read(
                data, str(real.relative_to(self._roots.workspace)) if inside else real.name, str(real)
            )
        except image_file.UnfitImage as error:
            raise ToolFault("BINARY_FILE", f"{real} is an image that cannot be shown: {error}") from error

    def _content(self, real: Path) -> bytes:
        descriptor = self._roots.open(real)
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            os.close(descriptor)
            raise ToolFault("IS_DIRECTORY", f"{real} is a folder; list it with ListFiles")
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(status.st_mode):
                raise ToolFault("ACCESS_DENIED", f"{real} is a device or a pipe; read a regular file")
            if status.st_size > SIZE_LIMIT:
                raise ToolFault(
                    "INVALID_PARAM",
                    f"{real} has {status.st_size} bytes, the limit is {SIZE_LIMIT}; "
                    "read a smaller file, or continue without it",
                )
            return file.read(SIZE_LIMIT + 1)

    def _text(self, real: Path, data: bytes) -> str:
        if (reason := why_not_text(data)) is not None:
            raise ToolFault("BINARY_FILE", f"{real} is {reason}; read another file, or use a tool made for it")
        from goalwright_skills.format.frontmatter import decode

        return decode(data).lstrip("\ufeff")


def _note(end: int, total: int) -> str:
    return f"\n[{total - end} of {total} characters are left; continue with offset={end}]"
