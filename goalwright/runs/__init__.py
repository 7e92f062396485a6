"""Runs: from a goal to its recorded answer.

    runtime.py      Goalwright: start, resume, rerun, plan, preview; run_goal.py for a single goal
    run.py          Run: one run, recorded, claimed, and stopped on request
    callbacks.py    the functions that a caller gives a run
    pipeline.py     Pipeline: the order of the steps
    run_context.py  RunContext: the state that all steps share, and its recorded part
    steps/          selecting, planning, running, replanning, answering
    stored/         runs in the journal: continued, followed up, partly run again
    plans/          plan files: read, checked, edited
    recipes/        plans with parameters, saved in files
    conversations/  chains of runs, each of which sees the earlier ones
    preview.py      the first request of a run, without a call; goal.py, goal_length.py, stop.py, run_id.py: values

Start with `Goalwright.run`. May import goalwright.models and everything below it.
"""
