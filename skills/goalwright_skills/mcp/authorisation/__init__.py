"""Logins at MCP servers: OAuth 2.1 as the `mcp` package has it, with tokens that stay in the user's data folder.

tokens      what is kept of a login, in a file that only the user can read
addresses   which addresses an authorisation server may name
callback    the page on loopback that takes the answer of the browser
provider    what adds tokens to requests, refreshes them, and logs in
login       a whole login, from the address to the tokens

Only `provider` and `login` import the package `mcp`.
"""
