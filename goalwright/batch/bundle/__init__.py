"""Bundles: one archive with everything that the goals of a batch need on other machines, identified by its hash.

    pack.py     collects skills, prompts, settings without secrets, and files that goals name
    archive.py  the canonical archive and its manifest: equal files give equal bytes
    unpack.py   unpacks once per machine, read-only, with no more trust than the machine's user grants

Provider keys are never packed: workers have their own.
"""
