"""What tasks end with, how it is found again, and how it reaches other tasks.

`outcome` says how a task ended; `memo` finds work that was finished before, in this run or in others. `inputs` fills
results into what a later task is told; `artifacts` keeps texts that are too long for that, `kept_files` and
`file_contents` the files that tools left.

May import `approvals`, `files` and `capture`; records events through a callable and knows no journal. Start with
`outcome.py`.
"""
