"""MCP servers as tools: what `.mcp.json` names, trusted by content, started at the first call.

entry        one server as a configuration file has it, and what starts it once variables are filled in
config       the configuration files: `.mcp.json` of the workspace, `mcp.json` of the user
names        the names under which a server's tools are offered
tool_list    a server's tools as weft offers them, and the cache of such lists
trust        which entries and which lists of tools the user trusts
transport    messages to and from a process or an address, bounded
authorisation/ logins: OAuth, with tokens in the user's data folder
callbacks    what a server asks and says besides its answers
resources    the built-in tools for resources and prompts
connection   one server: started, listed, called, restarted
pool         all servers of a process, in a thread of their own
result       what a server answered, as an envelope
tool         a tool of a server, ready to be called
servers      the servers of a workspace: how each stands, and what they offer (start reading here)
importing    servers that other programs have configured

Only `transport`, `connection`, `callbacks` and `authorisation` import the package `mcp`, at the first connection.
May import `programs`, `tools` and the modules below them.
"""
