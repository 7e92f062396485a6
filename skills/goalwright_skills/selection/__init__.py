"""Selects the skills that fit a goal, without a model. Start with `detectors`, then `ranked`, the default detector.

    detector      the port: `SkillDetector`, `Selection` and explanations
    detectors     detectors by name, those of installed packages included
    ranked        the default detector; `keyword` matches shared words only
    query/        the goal: its terms, language, parts and the skills that it names
    ranking/      scores of the skills for a goal, and the choice among them
    pools         indexes of the skills, kept in memory and in the cache
    index/        skills as memory-mapped files
    encoder/      texts as vectors

May import discovery, functions, format and the ground below; never builtin, manage or check. The detector `llm` is in
`goalwright.workspace`, since it calls a model.
"""
