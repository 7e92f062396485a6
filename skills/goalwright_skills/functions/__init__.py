"""Tools of installed Python packages: functions that run inside goalwright's own process.

entry_points   what packages offer in an entry-point group
signature      what a model is told of a function
installed      those tools as rows of a listing
functions      a typed function as a tool, ready to be called (start reading here)

May import `programs`, `tools`, `format` and the modules at the root of `skills`.
"""
