"""MCP servers as tools: what `.mcp.json` names, trusted by content, started at the first call.

entry        one server as a configuration file has it, and what starts it once variables are filled in
config       the configuration files: `.mcp.json` of the workspace, `mcp.json` of the user
names        the names under which a server's tools are offered
tool_list    a server's tools as goalwright offers them, and the cache of such lists
trust        which entries and which lists of tools the user trusts
authorisation/ logins: OAuth, with tokens in the user's data folder
connections/ how servers are started, asked, and ended
resources    the built-in tools for resources
server_state how a server stands, and what those that may be used offer together
servers      the servers of a workspace: how each stands, and whether it is trusted (start reading here)
calls        calls to them: tools, resources, prompts
result, answering  what a server answered, or why it did not, as an envelope
offered, tool, prompt  a tool and a prompt of a server, as a run offers them
importing    servers that other programs have configured

Only `connections` and `authorisation` import the package `mcp`, at the first connection.
May import `programs`, `tools` and the modules below them.
"""
