"""`weft doctor`: checks of everything that a run needs, without calling a model or changing anything.

checks.py        all checks, as a list of `Check`
model_check.py   whether a model can be called: provider, key, local file; batches use it too

May import runs and everything below; only the command line and batches import it.
"""
