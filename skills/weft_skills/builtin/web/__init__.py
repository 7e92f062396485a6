"""Reading the web: `WebFetch`, for the hosts that the user allows.

web_fetch.py   the tool
fetch.py       one page: every redirect checked, the address pinned, within limits of size and time
hosts.py       which hosts are allowed, and which addresses are private
page_text.py   HTML as readable text
"""
