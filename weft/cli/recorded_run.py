"""A runtime for a recorded run, with the run's own settings except those given now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.cli import configuration

if TYPE_CHECKING:
    from pathlib import Path

    from weft.cli.configuration import SettingFlags
    from weft.cli.view.output_mode import OutputMode
    from weft.runs.runtime import Weft
    from weft_planner.events import RunStarted


def runtime_of(run: str, workspace: Path, flags: SettingFlags, mode: OutputMode, *, trust: bool) -> tuple[Weft, str]:
    """The runtime, and the run's whole id; asks for trust if the workspace has tools that need it."""
    from weft.cli.dialogs import trust_prompt

    weft, recorded = open_recorded(run, workspace, flags, mode, trust=trust)
    trust_prompt.trust_tools(weft.workspace.tools, trust=trust, quiet=mode.quiet)
    trust_prompt.trust_mcp(weft.workspace.tools, trust=trust, quiet=mode.quiet, start=False)
    return weft, recorded.run_id


def open_recorded(
    run: str,
    workspace: Path,
    flags: SettingFlags,
    mode: OutputMode,
    *,
    trust: bool,
    use: dict[str, Path] | None = None,
    calls: bool = True,
) -> tuple[Weft, RunStarted]:
    """The runtime, with skills to `use` in place of others, and the run's first event; `calls` opens models early."""
    from weft.cli import warm_up
    from weft.cli.dialogs import trust_prompt
    from weft.runs.runtime import Weft
    from weft.runs.stored import records
    from weft.settings.recorded import check_recorded

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
    return Weft(workspace, settings, open_model=open_model, use=records.substitutes(recorded) | (use or {})), recorded
