"""Turns values into recorded values: without secrets, with paths relative to named roots, and hashed.

`capture` combines `secrets`, `named_roots` and `json_text`. The bottom wing of `executor`: imports none of the others.
Hashes of recorded runs depend on every byte of its output. Start with `capture.py`.
"""
