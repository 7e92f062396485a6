"""`goalwright doctor`: checks of everything that a run needs, without calling a model or changing anything.

`checks.py` has them all, as a list of `Check`; `ray_checks.py` those of `--engine ray`.
May import runs and everything below; only the command line imports it.
"""
