"""What a tool is, wherever it comes from.

tool       the interface (start reading here)
parameter  its parameters and their JSON schema; arguments checks a call against them
envelope   the shape of every answer; fault is the error, overflow the output that is too long
call_log   what a call leaves for the trace and the tool's author
listing    the tools as the planner sees them

May import the modules at the root of `skills` and `text`.
"""
