"""The outcomes of tasks: how they are recorded, found again and passed to other tasks.

`outcome` defines how a task ends; `memo` looks up `finished_work` of this run or others before doing it again. `inputs`
fills results into the prompts of later tasks; `artifacts` keeps texts that are too long for a prompt, `kept_files` and
`file_contents` the files that tools wrote.

May import `approvals`, `files` and `capture`; records events through a callable and does not import the journal. Start
with `outcome.py`.
"""
