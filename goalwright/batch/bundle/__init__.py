"""Bundles: what the goals of a batch need on other machines, in one archive that is known by its hash.

    pack.py       what goes in: skills of all folders, prompts, settings without secrets, files that goals name
    archive.py    the canonical archive: the same files are the same bytes, wherever they lay
    unpack.py     once per machine: checked, read-only, and never more trusted than what the machine's user allows
    manifest.py   what a bundle says of itself; settings_file.py its settings

No key travels: providers' keys are in the workers' own environment.
"""
