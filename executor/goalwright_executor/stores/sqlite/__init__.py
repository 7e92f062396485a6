"""The store in one SQLite file: `store` does the operations on runs, `database` opens, locks and reads the file.

`schema` has the tables and their migrations, `statements` the writes, `run_list` and `search` the reads of lists.
Start with `store.py`.
"""
