"""The web: `WebFetch` for the hosts that the user allows, `WebSearch` with the provider that the user configured.

web_fetch.py, web_search.py   the tools
fetch.py             the HTTP client: checks every redirect, pins the address, limits size and time
hosts.py             allowed hosts and private addresses
box_proxy.py         the HTTP proxy of sandboxed commands
page_text.py         HTML to readable text, in a child process
foreign_text.py      the marks around untrusted text
search_provider.py   the requests and responses of search providers
"""
