"""Measures the quality of skill selection.

    python -m selection_quality CORPUS [DETECTOR] [--more FOLDER] [--plot FILE] [--held-out] [--baselines]

CORPUS has `skills/<pool>/**/SKILL.md` and `queries.jsonl`, one goal per line: `{"id", "pool", "goal", "expected"}`;
`expected` is null if no skill should be selected. `data/` has further goals: `everyday.txt` needs no skill,
`several_skills.jsonl` several, and `translated.jsonl` are goals in other languages with English keywords from a model.
`--more` adds the skills of a folder to the large pools, which are otherwise filled with mixtures. `--plot` draws the
reliability of scores. Exits 1 if a figure is out of its bound.

    corpus        pools and goals
    ranks         R@1, R@5 and MRR, in pools of any size, beside plain BM25
    sets          goals that need several skills
    none          goals without a skill, and goals in other languages
    reliability   scores and how often they are right
    held_out      constants tuned on one pool and measured on the others
    speed         CPU time per goal with 5,000 skills
"""
