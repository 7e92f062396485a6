"""The commands, one module each, grouped by what they are about.

runs/      run, plan, resume, rerun
batches/   batch
traces/    replay, and trace with its subcommands
skills/    skills and its subcommands
setup/     models, init, doctor, completion

A command reads its options, calls the wings below and prints through `goalwright.interfaces.cli.view`. Each is imported when it is
used; `goalwright/interfaces/cli/main.py` lists them all.
"""
