"""Finding files: `Grep` and `ListFiles`.

list_files.py, grep.py   the tools
walk.py     the visible files below a folder
glob.py     matching of patterns such as `src/**/*.py`
worker.py   the process in which a regular expression is tried, because it may not terminate
"""
