"""One function for each route, by what it is about: it takes the site and the request, and gives the answer.

runs     the list of runs, one run, one task, deletion
live     event streams
steer    start, stop, resume, replan, rerun
traces   compare, replay, export, import, artifacts
plans    plan a goal, check a plan's text, preview
skills   the skills of the workspace; `skill_imports` adds them from archives
batches  batches of runs
setup    models, settings, doctor
"""
