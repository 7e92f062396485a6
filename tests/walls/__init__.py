"""Attacks on the walls around tools, run under every wall and as every kind of user that the machine has.

`python -m tests.walls` prints a table: held, LEAKED or skipped, and why; it exits 1 on a leak. To add an attack, write
a function in a module of `probes/`, marked with `@probe`: it returns what leaked, or nothing.
"""
