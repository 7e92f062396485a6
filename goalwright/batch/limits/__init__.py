"""Limits on a batch's model calls.

limited_model.py  a model that waits for its turn before every call
call_queue.py     the queue of calls of all goals, in which goals take turns
rate_limiter.py   the rate limiter of one model
dedupe.py         identical calls are made once
shared/           one limiter and one budget for several worker processes
"""
