"""Engines: where a batch's goals run. Each implements `goalwright.batch.engine.Engine`."""
