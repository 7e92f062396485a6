"""Engines: where a batch's goals run. Each implements `weft.batch.engine.Engine`."""
