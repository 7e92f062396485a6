"""Engines, which run the goals of a batch. Each implements `goalwright.batch.engine.BatchEngine`."""
