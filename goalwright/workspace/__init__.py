"""A workspace: its skills, tools and prompts, and what a goal gets of them. Start with `Workspace.catalogue`.

    workspace.py       Workspace: what a run needs, and the catalogue of skills and tools for one goal
    goal_selection.py  GoalSelection: the request that selects for one goal
    skills.py          WorkspaceSkills: discovery and selection; substitute.py replaces a skill by a file
    tools.py           WorkspaceTools: programs and functions, their trust and confinement
    fingerprints.py    hashes of the skills, as they are recorded
    llm_detector.py    the detector `llm`, which calls a model

May import goalwright.models.litellm, goalwright.settings, planner and skills.
"""
