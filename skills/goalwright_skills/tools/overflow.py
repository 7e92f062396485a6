"""Output that is too long for a model: truncated, with the full text in the run's artifacts."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalwright_skills import safe_files
from goalwright_skills.tools.envelope import TEXT_LIMIT, Envelope
from goalwright_skills.tools.left_files import kept_row, with_artifacts

if TYPE_CHECKING:
    from goalwright_skills.tools.disk_use import DiskLimits
    from goalwright_skills.tools.envelope import Context


@dataclass(frozen=True, slots=True)
class Output:
    """A tool's output: its text, and its value if that is JSON other than a string."""

    tool: str
    text: str
    value: Any = None

    def envelope(self, context: Context, artifacts: Path | None, time_ms: int, disk: DiskLimits) -> Envelope:
        """The output in its envelope, truncated and saved if it is too long."""
        if len(self.text) <= TEXT_LIMIT:
            data = {} if self.value is None else {"output": self.value}
            return Envelope("success", self.text, context, data, time_ms=time_ms)
        kept = keep(self.text, self.tool, artifacts, Path(context.cwd), disk)
        data = {"characters": len(self.text), "artifact": kept.path} | kept.note
        envelope = Envelope("partial", self.text[:TEXT_LIMIT], context, data, time_ms=time_ms)
        return with_artifacts(envelope, kept.rows)


@dataclass(frozen=True, slots=True)
class Kept:
    """A file that goalwright wrote into a run's artifacts: where it is and how envelopes name it, or why there is none."""

    path: str | None = None
    rows: tuple[dict[str, Any], ...] = ()
    why_not: str = ""

    @property
    def note(self) -> dict[str, str]:
        """What an envelope's data says of a file that is not kept."""
        return {"not_kept": self.why_not} if self.why_not else {}


def keep(
    data: str | bytes,
    tool: str,
    artifacts: Path | None,
    workspace: Path,
    disk: DiskLimits,
    suffix: str = ".txt",
) -> Kept:
    """Write what a tool gave to a new file in the artifacts, if the run has any, and room for it."""
    if artifacts is None:
        return Kept(why_not="this call has no artifacts")
    path = artifacts / f"{tool}-{secrets.token_hex(4)}{suffix}"
    content = data.encode("utf-8", "replace") if isinstance(data, str) else data
    if full := disk.exceeded_with(path, len(content), artifacts):
        return Kept(why_not=f"the run's files would have {full}")
    safe_files.write(path, content, below=safe_files.anchor(artifacts, workspace))
    return Kept(str(path), (kept_row(path.name, content),))
