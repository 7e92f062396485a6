"""Exports runs as OpenTelemetry spans, on request and at the end of a run.

otlp.py       a run as spans, sent as OTLP over HTTP
exporter.py   sends each run when it ends
score_spans.py  the scores of an evaluation as spans

May import the executor, the planner and skills. Start reading at `otlp.py`.
"""
