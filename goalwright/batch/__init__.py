"""Batches: many goals from a file, with one line of results for each.

    run_batch.py     open_batch, Batch and run_batch: used by `goalwright batch` and by programs
    runner.py        BatchRunner: runs several goals at a time and writes each result when it ends
    goals.py         reads and validates goal files (goal_formats.py, goal_check.py)
    results.py       the results file, and the state that resuming a batch needs
    summary.py       counts; preview.py is the dry run; options.py has the options and their defaults
    engine.py        the port of engines; engines/ has the implementations
    limits/          the call queue, rate limiters and deduplication
    bundle/          packs and unpacks what goals need on other machines

Start with `run_batch`. May import goalwright.runs and everything below it.
"""
