"""The store in a PostgreSQL database, which many machines may write to: `store` implements the port.

`address` parses the URL, `connections` keeps and repairs connections and explains errors, `schema` has the tables,
versions and partitions, `statements` the writes of a commit, `leases` the leases of runs, `run_list` and `search` the
reads, and `retention` the deletions. Needs psycopg (the extra `postgres`), so only `journal.open_store` imports it.
Start with `store.py`.
"""
