"""Values as they are recorded: without secrets, with paths relative to named roots, and hashed.

`capture` puts it together from `secrets` (with `secret_forms`), `named_roots` and `json_text`. The bottom wing of
`executor`: imports none of the others. Recorded runs depend on every byte that it produces. Start with `capture.py`.
"""
