"""Runs: a goal from its text to its recorded answer.

    runtime.py    Weft: start, resume, rerun, plan, preview; run_goal.py for a single goal
    run.py        Run: one run, recorded and claimed, stopped when asked
    pipeline.py   Pipeline: select skills, plan, run the tasks, synthesise
    records.py    what a run writes to its journal, and how it is read back
    answers.py    what runs wait for, and which request an answer is for
    steps/        selecting skills, replanning, and changes of the plan by a person
    plan_file.py  plans in files; goal.py, stop.py, preview.py, rerun.py, claim.py, run_id.py: the values they use

Start with `Weft.run`. May import weft.models and everything below it.
"""
