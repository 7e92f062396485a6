"""The ranking behind the detector `ranked`: which skills of an index fit a goal and its parts, and how well.

May import `index`, `encoder` and the texts beside them, but no detector. Start with `reading`, which reads a goal.

    goal_words    the words of a goal that can speak for a skill; `intents` and `everyday` words
    bm25          scores by words, with what each word brings; `strength` makes them comparable
    signals       what speaks for a skill, as numbers; `combination` weighs them
    reading       a goal's whole and its parts, with the skills that may fit
    naming        skills that a goal names in passing
    choosing      the set of skills that a goal needs
    listing       the best skills in order, for the planner
    reasons       why a skill fits, in words; `explaining`, in numbers
"""
