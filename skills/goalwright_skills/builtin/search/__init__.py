"""Finding files: `Grep` and `ListFiles`.

list_files.py, grep.py   the tools; both take a `glob_argument`
glob.py     which paths a pattern such as `src/**/*.py` matches
walk.py     the files below a folder that tools may see
worker.py   the process in which a regular expression is tried, since one may take for ever
"""
