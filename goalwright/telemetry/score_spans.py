"""The scores of an evaluation as spans: one for each check, in the trace of the scored run."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from goalwright.telemetry.otlp import attribute_list, span_id

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def score_spans(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the spans of a report in its JSON form, without answers and evidence."""
    now = str(time.time_ns())
    return [span for row in report["rows"] for span in _row(str(report["eval_id"]), row, now)]


def _row(evaluation: str, row: Mapping[str, Any], now: str) -> Iterator[dict[str, Any]]:
    run = str(row["run_id"])
    place = {"goalwright.eval_id": evaluation, "goalwright.case": row["case"], "goalwright.variant": row["variant"]}
    for number, check in enumerate(row["checks"], 1):
        passed = bool(check["passed"])
        attributes = {
            "gen_ai.evaluation.name": str(check["check"]),
            "gen_ai.evaluation.score.value": float(passed),
            "gen_ai.evaluation.score.label": "pass" if passed else "fail",
            **place,
            "goalwright.repeat": row["repeat"],
        }
        yield {
            "traceId": span_id(run, "", 32),
            "spanId": span_id(run, f"score {evaluation} {number}", 16),
            "parentSpanId": span_id(run, "run", 16),
            "name": f"evaluate {row['case']}",
            "kind": 1,
            "startTimeUnixNano": now,
            "endTimeUnixNano": now,
            "attributes": attribute_list(attributes),
        }
