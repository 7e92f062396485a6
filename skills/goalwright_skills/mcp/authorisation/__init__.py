"""Logins at MCP servers: OAuth 2.1 by the `mcp` package, with tokens in the user's data folder.

login       a complete login, from the address to the tokens
provider    adds tokens to requests, refreshes them, and logs in
tokens      the stored login, in a file that only the user can read
addresses   the addresses that an authorisation server may name
callback    the loopback page that receives the browser's answer

Only `provider` and `login` import the package `mcp`.
"""
