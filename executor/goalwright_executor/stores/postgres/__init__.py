"""The store in a PostgreSQL database, which many machines write to at once: `store` does the operations on runs.

`address` reads its URL, `connections` keeps and repairs connections, `schema` has the tables, their versions and
partitions, `statements` the writes of one commit, `leases` which worker has which run, `run_list` the reads of runs,
`retention` deletes them, and `messages` turns PostgreSQL's errors into advice. Needs psycopg (the extra `postgres`), so
only `journal.open_store` imports it, when a URL asks for it. Start with `store.py`.
"""
