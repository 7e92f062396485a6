"""Open a recorded run with its own settings, except those on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright.interfaces.cli import configuration

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.interfaces.cli.configuration import SettingFlags
    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright.runs.runtime import Goalwright
    from goalwright_planner.events import RunStarted


def runtime_of(
    run: str, workspace: Path, flags: SettingFlags, mode: OutputMode, *, trust: bool
) -> tuple[Goalwright, str]:
    """Return the runtime and the run's full id; asks for trust if the workspace's tools need it."""
    from goalwright.interfaces.cli.dialogs import trust_prompt

    goalwright, recorded = open_recorded(run, workspace, flags, mode, trust=trust)
    trust_prompt.trust_tools(goalwright.workspace.tools, trust=trust, quiet=mode.quiet)
    trust_prompt.trust_mcp(goalwright.workspace.tools, trust=trust, quiet=mode.quiet, start=False)
    return goalwright, recorded.run_id


def open_recorded(
    run: str,
    workspace: Path,
    flags: SettingFlags,
    mode: OutputMode,
    *,
    trust: bool,
    use: dict[str, Path] | None = None,
    calls: bool = True,
) -> tuple[Goalwright, RunStarted]:
    """Return the runtime and the run's first event.

    `use` replaces skills by name; `calls` starts loading the models.
    """
    from goalwright.interfaces.cli import warm_up
    from goalwright.interfaces.cli.dialogs import trust_prompt
    from goalwright.runs.runtime import Goalwright
    from goalwright.runs.stored import records
    from goalwright.settings.untrusted import check_recorded

    where = configuration.paths(workspace)
    if trust:
        trust_prompt.trust_settings(where)
    now = configuration.settings(where, flags, quiet=mode.quiet).settings
    store = records.recorded_runs(where, now)
    recorded = records.first_event(store, run, where)
    store.close()
    settings = records.tightened(records.settings_of(recorded.settings, now, flags.given()), now)
    check_recorded(settings, now, where)
    open_model = warm_up.begin(settings, where) if calls else None
    return Goalwright(
        workspace, settings, open_model=open_model, use=records.substitutes(recorded) | (use or {})
    ), recorded
