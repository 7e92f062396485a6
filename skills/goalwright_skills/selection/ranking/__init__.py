"""The ranking behind the detector `ranked`: which skills of an index fit a goal and its parts, and how well.

Start with `reading`, which scores the skills for a goal.

    bm25          scores by words, with what each word adds
    signals       the signals of a skill as numbers; `combination` weighs them
    pool          the skills to choose from
    reading       a goal and its parts, each with the skills that may fit
    choosing      the set of skills that a goal needs
    listing       the best skills in order, for the planner
    reasons       why a skill was selected or not
"""
