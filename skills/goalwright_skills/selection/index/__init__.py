"""All skills of a pool as memory-mapped files: their words, their vectors, and how they relate.

May import `encoder` and the texts beside it (`terms`, `descriptions`), never `ranking`. Start with `postings`, which
reads the file.

    skill_text    what of a skill is compared: its terms, the skills that it names (`relations`), its vector
    weights       BM25's constants and formulas
    nesting       skills inside another skill's folder
    vectors       the skills' vectors, and their cosines with a goal's
    postings      the file, read as numbers; `term_table`, its terms by hash
    building      making it, reusing what an older one has; `garbage`, not collected meanwhile

A large collection is several such files:

    division      which skills belong together; `numbering`, their numbers in the pool
    stored        what the files have of a collection; `shortlist`, what may be for a goal among the rest
    segments      several files read as one; `leading`, their vectors; `likely`, the best of all by words
    background    making them, in a process of its own
"""
