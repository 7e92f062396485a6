"""The commands. Each is imported on use; `main.py` and `groups.py` list them.

groups.py      the groups skills, trace, mcp, recipes and eval
runs/          run, plan, chat, resume, rerun, replan, approvals, changes
batches/       batch
evaluations/   eval
traces/        replay and trace
skills/        skills
mcp/           mcp
setup/         models, keys, serve, acp, init, doctor, completion
journal.py, recipes.py
"""
