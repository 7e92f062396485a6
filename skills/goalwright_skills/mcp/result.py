"""The answer of an MCP server as an envelope: text, structured values as data, other content as artifacts."""

from __future__ import annotations

import base64
import binascii
import json
import mimetypes
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalwright_skills.text.untrusted import join_surrogates, printable
from goalwright_skills.tools.artifacts import keep, with_artifacts
from goalwright_skills.tools.envelope import TEXT_LIMIT, Envelope, Fault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright_skills.mcp.connections.answers import CallAnswer
    from goalwright_skills.tools.artifacts import Kept
    from goalwright_skills.tools.disk_use import DiskLimits
    from goalwright_skills.tools.envelope import Context

_MAX_FILES = 50
_SUFFIX_LIMIT = 10
# Keys of an envelope's data that only goalwright itself may set.
_RESERVED = frozenset({"artifacts", "changes", "denied"})


@dataclass(slots=True)
class ResultReader:
    """Reads one answer; content other than text is written to the artifacts under new names."""

    tool: str
    artifacts: Path | None
    context: Context
    disk: DiskLimits
    files: int = 0
    kept: list[dict[str, Any]] = field(default_factory=list)

    def envelope(self, answer: CallAnswer, time_ms: int) -> Envelope:
        """Return the answer as an envelope, with the saved files listed."""
        return with_artifacts(self._envelope(answer, time_ms), self.kept)

    def _envelope(self, answer: CallAnswer, time_ms: int) -> Envelope:
        blocks = [self._block(join_surrogates(dict(block))) for block in answer.content]
        text = "\n".join(filter(None, (part for part, _ in blocks)))
        files = [row for _, row in blocks if row]
        data = self._data(answer.structured)
        if not text and answer.structured is not None:
            text = json.dumps(answer.structured, ensure_ascii=False)
        if files:
            data["files"] = files
        cut = len(text) > TEXT_LIMIT
        if cut:
            kept = self._save(text.encode("utf-8", "replace"), ".txt")
            data |= {"characters": len(text), "artifact": kept.path} | kept.note
            text = text[:TEXT_LIMIT]
        if answer.is_error:
            message = text or f"{self.tool} failed without giving a reason — try other arguments"
            return Envelope("error", message, self.context, data, Fault("EXECUTION_ERROR", message), time_ms)
        return Envelope("partial" if cut else "success", text, self.context, data, time_ms=time_ms)

    def _data(self, structured: Any) -> dict[str, Any]:
        value = join_surrogates(structured)
        if value is None:
            return {}
        text = json.dumps(value, ensure_ascii=False)
        if len(text) > TEXT_LIMIT:
            kept = self._save(text.encode("utf-8", "replace"), ".json")
            return {"structured": kept.path} | kept.note
        return dict(value) if isinstance(value, dict) and not _RESERVED & value.keys() else {"output": value}

    def _block(self, block: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """Return the text of one part of an answer, and the row of its saved file, if any."""
        match block.get("type"):
            case "text":
                return _plain(str(block.get("text", ""))), {}
            case "image" | "audio":
                return self._file(str(block.get("data", "")), block)
            case "resource":
                inner = block.get("resource")
                inner = inner if isinstance(inner, dict) else {}
                if isinstance(inner.get("text"), str):
                    return f"Resource {_one_line(inner.get('uri'))}:\n{_plain(inner['text'])}", {}
                return self._file(str(inner.get("blob", "")), inner)
            case "resource_link":
                return f"Resource {_one_line(block.get('uri'))}: {_one_line(block.get('name'))}", {}
            case kind:
                return f"({self.tool} sent a part of type {_one_line(kind)}, which is not supported)", {}

    def _file(self, encoded: str, block: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        kind = _one_line(block.get("mimeType") or "application/octet-stream")
        try:
            content = base64.b64decode(encoded, validate=True)
        except (binascii.Error, ValueError):
            return f"({self.tool} sent a file of type {kind} that cannot be decoded)", {}
        self.files += 1
        if self.files > _MAX_FILES:
            return f"(a file of type {kind} is dropped: {self.tool} sent more than {_MAX_FILES})", {}
        kept = self._save(content, mimetypes.guess_extension(kind.partition(";")[0].strip()) or ".bin")
        location = kept.path or f"not saved: {kept.why_not}"
        return f"File of type {kind}, {len(content):,} bytes: {location}", {
            "path": kept.path,
            "type": kind,
            "bytes": len(content),
        }

    def _save(self, content: bytes, suffix: str) -> Kept:
        kept = keep(content, self.tool, self.artifacts, Path(self.context.cwd), self.disk, suffix[:_SUFFIX_LIMIT])
        self.kept += kept.rows
        return kept


def _plain(text: str) -> str:
    """Replace control characters, because the text is shown on terminals and read by models."""
    if text.isprintable():
        return text
    text = text.replace("\r\n", "\n")
    return "".join(
        character if character in "\n\t" or not _is_control(character) else "\N{REPLACEMENT CHARACTER}"
        for character in text
    )


def _is_control(character: str) -> bool:
    return character < " " or "\x7f" <= character <= "\x9f"


def _one_line(value: object) -> str:
    return printable(str(value or ""))[:300]
