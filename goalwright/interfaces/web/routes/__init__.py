"""The handlers of the routes, by topic; each takes the site and the request and returns a response.

runs           the list of runs, one run, one task, tags, notes, statistics, deletion
live           event streams
steer          start, stop, resume, replan, rerun
traces         compare, replay, export, import
run_files      artifacts, images, and changes of the workspace
approvals      open requests and answers
plans          plan a goal, check or edit a plan's text, preview
conversations  conversations and their turns
skills         the skills of the workspace; `skill_imports` adds them from archives
mcp            MCP servers and logins
batches        batches of runs, and evaluations
setup          models, settings, doctor
"""
