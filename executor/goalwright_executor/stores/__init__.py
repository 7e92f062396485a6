"""The stores of journals: the port (`store`), the stored values (`row`, `texts`), and leases on runs (`lease`).

`sqlite/` and `postgres/` implement it; `journal.open_store` selects one by URL (`urls`). They share `columns`,
`run_lists` and `words`. May import `capture`. To add a store, implement `store.Store`, raise the errors of `errors`,
and add its URL scheme to `open_store`.
"""
