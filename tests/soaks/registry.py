"""Every soak, by its name."""

from __future__ import annotations

from tests.soaks import kill_approvals, kill_batch, kill_import, kill_run

SOAKS = {soak.name: soak for soak in (kill_run.SOAK, kill_batch.SOAK, kill_import.SOAK, kill_approvals.SOAK)}
