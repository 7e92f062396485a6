"""What a person is asked at the terminal, one module for each occasion.

first_model       which model to use, on a first run without one
trust_prompt      whether a workspace's programs and servers may run
approval_prompt   whether a call may be made, and the questions of a run
plan_review       whether a plan is run as it stands
recipe_trust      whether the plan of a recipe may call its tools
confirm           yes or no; `typed_line`, a line of text
"""
