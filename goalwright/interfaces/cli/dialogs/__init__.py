"""Questions at the terminal.

first_model       the model of a first run
trust_prompt      trust in a workspace's tools and MCP servers
approval_prompt   the requests of a run: approvals, questions, logins
plan_review       a plan before it runs
recipe_trust      trust in a recipe
terminal          reading yes, no or a line of text
"""
