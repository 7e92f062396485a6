"""MCP servers as tools: configured in `.mcp.json`, trusted by content, started at the first call.

servers      the servers of a workspace: their states and whether they are trusted (start reading here)
config       the configuration files: `.mcp.json` of the workspace, `mcp.json` of the user
entry        one server in a configuration file, and its launch values
importing    servers that other programs have configured
trust        entries and tool lists that the user trusts
coverage     the files of a workspace that a server can load
tool_list    the tools and prompts of a server, and their cache
server_state the state of a server, and the tools of all active servers
calls        calls of tools, resources and prompts
tools        tools and prompts as a run offers them
result       the answer of a server as an envelope
authorisation/ logins: OAuth, with tokens in the user's data folder
connections/ starting, asking and ending servers

Only `connections` and `authorisation` import the package `mcp`, at the first connection.
May import `programs`, `tools` and the modules below them.
"""
