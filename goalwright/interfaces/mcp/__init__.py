"""goalwright as an MCP server: goals, runs and skills of one workspace as tools for other agents.

goal_tools  the tools that clients call (start reading here)
goal_runs   the runs of this process: starts, awaits and interrupts them
protocol    offers the tools through the `mcp` package
asking      asks the client's user the open requests of a run
serve       the server on stdin and stdout, or over HTTP on loopback

May import everything of goalwright except `cli` and `web`.
"""
