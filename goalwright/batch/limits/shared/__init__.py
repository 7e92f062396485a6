"""One limiter and one budget for all workers of a batch, granted in advance so that calls do not wait for messages.

messages  the messages between a worker and the limiter
limiter   the limiter, which runs in one process and schedules the calls of each model
client    a worker's side: rate limiters that are filled with granted permits
budget    the shared budget, and a worker's side of it
"""
