"""Batches: many goals from a file, one line of results for each.

    run_batch.py     open_batch, Batch and run_batch: the path of `goalwright batch` and of programs
    runner.py        BatchRunner: several goals at a time, each result written as it ends
    goals.py         goal files, checked whole (goal_formats.py, goal_check.py), in order (goal_order.py)
    results.py       the results file, and what resuming a batch needs
    summary.py       counts; preview.py is the dry run; options.py has the options
    engine.py        the port of engines; engines/ has them; limits/ has queue, rate limiter and deduplication
    bundle/          what goals need on other machines, packed and unpacked

Start with `run_batch`. May import goalwright.runs and everything below it.
"""
