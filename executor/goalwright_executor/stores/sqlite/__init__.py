"""The store in one SQLite file: `store` does the operations on runs, `database` opens, locks and reads the file.

`schema` has the tables and their migrations, `statements` the writes, `run_import` the copying of whole runs, and
`messages` turns SQLite's errors into advice. Start with `store.py`.
"""
