"""Measures how well labelled goals find their skills, with a reason and a remedy for each miss.

May import selection, discovery and the ground below. Start with `evaluate`.

    labelled    goals with their expected skills, read from JSONL
    evaluate    selects for each goal and measures: `Outcome`, `Evaluation`
    words       the words that goals and skills share, and their rarity
    explain     why a goal missed its skill, and which description to change
    overlap     pairs of skills that compete for the same goals
"""
