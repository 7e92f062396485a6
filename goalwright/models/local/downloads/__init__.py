"""Getting a model onto this machine.

pull          tries a model's sources in turn
download      fetches a URL, and goes on where it was interrupted
wheel_parts   joins a file from parts in wheels
progress      how a pull reports its progress
"""
