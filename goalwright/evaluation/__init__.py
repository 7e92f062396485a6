"""Evaluations: whether answers are right, and which of several variants gives better ones.

    evaluate.py      evaluate and OpenEvaluation: the path of `goalwright eval` and of programs
    case_files.py    files of cases (case.py)
    variant.py       what is compared; trials.py: cases, variants and repeats, interleaved, as goals of one batch
    scoring.py       a run against its checks: checks/, and judge.py for expectations in words
    statistics.py    intervals and verdicts; report.py: what is printed, and what `--json` holds
    store.py         the folder of an evaluation, for `--resume` and `goalwright eval show`; report_document.py: its form
    skill_variants.py  one skill: with and without, old and new; free_part.py: what replays show of it
    improve/         edits of a skill behind gates

Start with `evaluate.py`. May import goalwright.batch, goalwright.traces and everything below them.
"""
