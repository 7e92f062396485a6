"""Attacks on the sandbox of tools, in every confinement and as every kind of user that the machine has.

`python -m tests.walls` prints a table: held, LEAKED or skipped, with reasons; it exits 1 on a leak. To add an attack,
write a function in a module of `probes/` that returns the leak or an empty string, and decorate it with `@probe`.
"""
