"""How well goals find their skills, in every way that selection can go wrong.

    python -m selection_quality CORPUS [DETECTOR] [--more FOLDER] [--plot FILE] [--held-out]

CORPUS has `skills/<pool>/**/SKILL.md` and `queries.jsonl`, one goal per line: `{"id", "pool", "goal", "expected"}`;
`expected` is null if no skill should be selected. `data/` has goals of our own: `everyday.txt` selects nothing,
`several_skills.jsonl` needs several skills, `translated.jsonl` are goals in other languages with English keywords, as a
model gives them. `--more` adds the skills of another folder to the large pools; without it they are filled with
mixtures of the corpus's own. `--plot` draws how well scores keep their word. Exits 1 if a figure is out of its bound.

    corpus        pools and goals
    ranks         R@1, R@5 and MRR, in pools of any size, beside plain BM25
    sets          goals that need several skills
    none          goals that need none, and goals in other languages
    reliability   scores beside how often they are right
    held_out      constants tuned on one pool, measured on the others
    speed         CPU time per goal with 5,000 skills
"""
