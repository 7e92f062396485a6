"""Everything that a person or another program talks to. All hints are worded here.

cli/     the command line
web/     `goalwright serve`, the workspace in a browser
acp/     `goalwright acp`, for editors, over the Agent Client Protocol
mcp/     `goalwright mcp serve`, for other agents, over the Model Context Protocol
doctor/  the checks of `goalwright doctor`

May import everything else of goalwright; nothing imports it. Start with `cli/main.py`.
"""
