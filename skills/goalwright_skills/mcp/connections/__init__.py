"""Connections to MCP servers.

pool            all servers of a process, in a thread of their own (start reading here)
connection      one server: its tools and the calls to it
session         the session with a server: started, kept open, restarted
callbacks       questions, progress and log lines from a server
answers         the answers and failures of a server
redaction       removes secrets from the texts of a server
transport       messages to and from a process, bounded
http_transport  messages to and from an address, bounded
behind_walls    a server's process, confined

Only `session`, `callbacks` and the transports import the package `mcp`, at the first connection.
"""
