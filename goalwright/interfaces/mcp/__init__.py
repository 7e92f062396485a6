"""goalwright as an MCP server: goals, runs and skills of one workspace as tools for other agents.

goal_runs   the runs that this process started: waited for, watched, interrupted at the end
goal_tools  what clients can call (start reading here)
protocol    the same as the `mcp` package offers it
asking      what a run waits for, asked of the client's user
serve       the server on standard input and output, or over HTTP on loopback

May import everything of goalwright except `cli` and `web`.
"""
