"""One limiter for all workers of a batch: it deals out calls ahead of time, so that a call waits for no message.

messages  what a worker asks, and what it is dealt
limiter   the limiter itself, in one process; dealing has what it knows of one model
client    a worker's side: its own rate limiters, filled from what the limiter deals
"""
