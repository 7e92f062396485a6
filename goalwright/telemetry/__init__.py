"""Runs for the tools that watch a service: OpenTelemetry spans, sent on request and at a run's end.

otlp.py       a run as spans, sent as OTLP over HTTP
exporter.py   sends each run when it ends

May import the executor, the planner and skills. Start reading at `otlp.py`.
"""
