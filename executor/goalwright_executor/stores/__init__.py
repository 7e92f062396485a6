"""Where a journal's rows are kept: the store port (`store`), what it stores (`row`, `texts`), and leases on runs.

`sqlite/` and `postgres/` implement it; `journal.open_store` chooses one by URL (`urls`). `columns` and `run_lists` are
what they share. May import `capture`. To add a store, implement `store.Store`, raise the errors of `errors`, and add
its URL scheme to `open_store`.
"""
