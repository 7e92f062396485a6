"""Every soak, by its name."""

from __future__ import annotations

from tests.soaks import (
    kill_approvals,
    kill_batch,
    kill_cluster,
    kill_fan_out,
    kill_forms,
    kill_goals,
    kill_import,
    kill_limited,
    kill_replan,
    kill_rounds,
    kill_run,
    kill_stream,
    kill_stream_changed,
    limit_cluster,
    limiter_schedules,
)

_ALL = (
    kill_run.SOAK,
    kill_fan_out.SOAK,
    kill_forms.SOAK,
    kill_stream.SOAK,
    kill_stream_changed.SOAK,
    kill_goals.SOAK,
    kill_rounds.SOAK,
    kill_replan.SOAK,
    kill_batch.SOAK,
    kill_cluster.SOAK,
    kill_import.SOAK,
    kill_approvals.SOAK,
    kill_limited.SOAK,
    limit_cluster.SOAK,
    limiter_schedules.SOAK,
)
SOAKS = {soak.name: soak for soak in _ALL}
