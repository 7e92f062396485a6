"""Where a journal's rows are kept: the store port (`store`), what it stores (`row`, `texts`), and leases on runs.

`sqlite/` is the one implementation; `journal.open_store` chooses it by URL (`urls`). May import `capture`. To add a
store, implement `store.Store`, raise the errors of `errors`, and add its URL scheme to `open_store`.
"""
