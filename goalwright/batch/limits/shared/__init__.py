"""One limiter and one budget for all workers of a batch, granted ahead of time: a call waits for no message.

messages       what a worker requests, and what it is granted
limiter        the limiter itself, in one process; permits schedules the calls of one model
client         a worker's side: its own rate limiters, filled with the permits that it is granted
budget         one budget, of which workers spend only what was allotted to them
worker_budget  a worker's side of the budget
"""
