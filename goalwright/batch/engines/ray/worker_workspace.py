"""Where a worker's goals run: on the machine of the batch in its workspace, elsewhere in what the batch has sent."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright.batch.batch_settings import batch_settings
from goalwright.batch.bundle.unpack import unpack
from goalwright.batch.engines.in_process import InProcess
from goalwright.batch.engines.ray.sent_flags import follow

if TYPE_CHECKING:
    from goalwright.batch.bundle.unpack import UnpackedBundle
    from goalwright.batch.engines.ray.messages import WorkerSetup
    from goalwright.settings.settings import Settings


@dataclass(frozen=True, slots=True)
class WorkerWorkspace:
    """A workspace with its settings; `ignored` says which of a bundle's settings do not count on this machine."""

    workspace: Path
    settings: Settings
    bundle: UnpackedBundle | None = None
    ignored: tuple[str, ...] = ()

    def open(self, setup: WorkerSetup) -> InProcess:
        """An engine for goals here; raises if its skills are not the sender's."""
        engine = InProcess.of(self.workspace, self.settings, setup.options)
        if self.bundle is not None:
            engine.paths = self.bundle.paths()
            self.bundle.check(engine.runtime().workspace.skills.registry)
        return engine


def open_workspace(setup: WorkerSetup, data: bytes | None) -> WorkerWorkspace:
    """The batch's own workspace, or that of the bundle in `data`, unpacked unless it was before and checked."""
    if setup.settings is not None:
        return WorkerWorkspace(Path(setup.workspace), setup.settings)
    bundle = unpack(data or b"", setup.bundle)
    resolved = bundle.resolved()
    settings = replace(
        batch_settings(resolved),
        journal=setup.journal,
        stream_plan=False,
        prices={**(resolved.settings.prices or {}), **setup.prices} or None,
        allow_unknown_cost=setup.assumes or resolved.settings.allow_unknown_cost,
        # What a batch sets by itself is told from what its user set.
        max_replans=min(setup.max_replans, resolved.settings.max_replans),
    )
    settings = follow(setup.flags, settings)
    file = f"{bundle.workspace / 'goalwright.toml'}: "
    warnings = [text.removeprefix(file) for text in resolved.warnings if text.startswith(file)]
    return WorkerWorkspace(bundle.workspace, settings, bundle, tuple(warnings))
