"""The web: `WebFetch` for the hosts that the user allows, `WebSearch` by the provider that they have set.

web_fetch.py, web_search.py   the tools; web_access.py is what of the web the user allows
fetch.py             one page: every redirect checked, the address pinned, within limits of size and time
hosts.py             which hosts are allowed, and which addresses are private
page_text.py         HTML as readable text; foreign_text.py marks what strangers wrote
search_provider.py   where searches go; search_answers.py has what providers are asked and answer
"""
