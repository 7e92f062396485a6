"""One limiter and one budget for all workers of a batch, dealt out ahead of time: a call waits for no message.

messages  what a worker asks, and what it is dealt
limiter   the limiter itself, in one process; dealing has what it knows of one model
client    a worker's side: its own rate limiters, filled from what the limiter deals
budget    one budget, of which workers spend only what was allotted to them; allotted_budget is a worker's side
"""
