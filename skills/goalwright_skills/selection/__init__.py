"""Selecting the skills that fit a goal, by every detector that needs no model of its own.

May import discovery, functions, format and the ground below; never builtin, manage or check. Start with `detectors`,
which finds a detector by name, then `ranked`, the default one.

    detector      the port: `SkillDetector` and the `Selection` it gives
    triggers      skills that a goal names outright
    ranked        the default: `terms` (stems), `descriptions` (clauses), `parts` (of a goal), `encoder/` (meaning),
                  `pools` (the index, kept), `index/` (skills as files) and `ranking/` (what fits a goal)
    translated    ranked by a goal's words and by keywords in the skills' `language`
    keyword       shared words only
    explanation   why skills were selected or not
    plugin        detectors of other packages, with their answers checked

The detector `llm` is in `goalwright.workspace.llm_detector`, since it calls a model.
"""
