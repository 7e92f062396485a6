"""How well goals find their skills: measured on labelled goals, with a reason and a remedy for each miss.

May import selection, discovery and the ground below. Start with `evaluate`.

    labelled    goals with the skills that they should select, read from JSONL
    evaluate    selects for each goal and measures: `Outcome`, `Evaluation`
    words       which words of a goal a skill's description has, and how rare they are
    explain     why a goal missed its skill, and what to change in which description
    overlap     pairs of skills that compete for the same goals
"""
