"""Tools of installed Python packages: functions that run inside goalwright's own process.

entry_points   reads the entry points of installed packages
signature      derives a tool's parameters and description from a function
installed      lists the installed tools without making them callable
functions      makes a typed function a callable tool (start reading here)

May import `programs`, `tools`, `format` and the modules at the root of `skills`.
"""
