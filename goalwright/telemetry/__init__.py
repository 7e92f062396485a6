"""Exports runs and scores as OpenTelemetry spans.

    spans.py  runs and scores as spans
    otlp.py   sends spans as OTLP over HTTP, on request or at the end of a run

May import the executor, the planner and skills.
"""
