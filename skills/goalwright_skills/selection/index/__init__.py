"""The skills of a pool as memory-mapped files: their words, their vectors, and how they relate.

May import `encoder` and `query`, never `ranking`. Start with `postings`, which reads a file.

    descriptions  the clauses of a description
    skill_text    a skill's terms, vector and the skills that it names
    weights       BM25's constants and formulas
    nesting       skills inside another skill's folder
    vectors       the skills' vectors, and their cosines with a goal's vector
    postings      reads an index file; `term_table` finds its terms
    building      writes an index file, reusing an older one

A large collection is divided into several files:

    stored        the segment files of a collection, and a shortlist of the skills that have no index yet
    segments      several files read as one; `numbering`, `leading` and `likely` are its parts
    background    indexes in a process of its own
"""
