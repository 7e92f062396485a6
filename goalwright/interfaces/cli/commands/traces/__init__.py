"""`goalwright replay` and the commands of `goalwright trace`."""
