"""Random kills, long runs and large data: `scripts/soak NAME [N]`.

A soak is a module with a `SOAK`, listed in `registry.py`. Its short form, with at most five kills, is part of the
suite (`tests/end_to_end/test_soaks.py`); the long one is run by hand. Add one: write the module, list it.
"""
