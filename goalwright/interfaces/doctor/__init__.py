"""`goalwright doctor`: checks of everything that a run needs, without calling a model or changing anything.

`checks.py` has the checks of every installation, `ray_checks.py` the checks of `--engine ray`.
May import runs and everything below; only the command line and the page import it.
"""
