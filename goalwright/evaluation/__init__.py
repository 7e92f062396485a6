"""Evaluations: score answers, compare variants, and improve skills.

    evaluate.py      evaluate and OpenEvaluation: an evaluation from its cases to its report
    case_files.py    case files; case.py: one case
    trials.py        variants, and every case with every variant as the goals of one batch
    scoring.py       scores runs with checks/ and with judge.py; recorded.py: scores recorded runs
    statistics.py    intervals and verdicts; report.py: the report in text and JSON
    store.py         the folder of an evaluation, for resuming it and showing its report again
    errors.py        errors with the values that hints need
    basis.py         the settings and skills that the runs depend on
    versions.py      the variants of a skill: with and without, old and new; preview.py: what replays show of them
    improve/         edits of a skill and the gates that they must pass

Start with `evaluate.py`. May import goalwright.batch, goalwright.traces and everything below them.
"""
