"""Finding files: `Grep` and `ListFiles`.

glob.py     which paths a pattern such as `src/**/*.py` matches
walk.py     the files below a folder that tools may see
tools.py    the two tools
worker.py   the process in which a regular expression is tried, since one may take for ever
"""
