"""The ranking behind the detector `ranked`: the words of all skills as an index, and what a goal's words find in it.

May import the rest of selection but no detector. Start with `bm25`, which gives the candidates for a goal.

    skill_text    what of a skill is compared: `descriptions` cuts its clauses, `relations` finds the skills it names
    weights       BM25's constants and formulas
    postings      the index file
    bm25          the best candidates for a goal's words, with what each word brings
    intents       words that a goal asks for without saying them
    nesting       skills inside another skill's folder yield to it
    confidence    a score as a probability
    cover         several skills, each for what of the goal the ones before leave
"""
