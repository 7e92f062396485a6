"""The weights of `goalwright_skills.selection.ranking.combination`, learnt from development goals.

    development   goals and pools: a corpus, the goals of `training/goals`, tools of TaskBench's form
    reading       the signals of every candidate, read by the ranking itself
    fitting       weights that rank the right skills first, tell a need, and tell the right skill
    report        figures by set

Start with `__main__`.
"""
