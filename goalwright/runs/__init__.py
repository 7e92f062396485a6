"""Runs: a goal from its text to its recorded answer.

    runtime.py      Goalwright: start, resume, rerun, plan, preview; run_goal.py for a single goal
    run.py          Run: one run, recorded and claimed, stopped when asked
    pipeline.py     Pipeline: the order of the steps
    run_context.py  RunContext: what all steps share, and what of it comes from a record
    steps/          selecting, planning, reviewing, running, replanning, answering
    stored/         runs in the journal: continued, followed up, run again in part
    plans/          plans in files, checked and edited
    conversations/  chains of runs, each of which sees the earlier ones
    serving.py      a server that starts runs, until its client leaves
    preview.py      what a run would ask; goal.py, goal_length.py, stop.py, run_id.py: the values that they use

Start with `Goalwright.run`. May import goalwright.models and everything below it.
"""
