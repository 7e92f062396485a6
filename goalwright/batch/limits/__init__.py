"""Limits on a batch's model calls: one queue for all goals, a rate limiter for each model, identical calls once."""
