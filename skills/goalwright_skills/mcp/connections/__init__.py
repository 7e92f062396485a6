"""Connections to MCP servers: how they are started, asked, and ended.

pool            all servers of a process, in a thread of their own (start reading here)
connection      one server: what it offers, and its calls
session         the session with it: opened, held, opened again
callbacks       what a server asks and says besides its answers
answers         what a server answers
faults          how a server fails
redaction       secrets, taken out of what a server says
transport       messages to and from a process, bounded
http_transport  messages to and from an address, bounded
behind_walls    a server's process, confined

Only `session`, `callbacks` and the transports import the package `mcp`, at the first connection.
"""
