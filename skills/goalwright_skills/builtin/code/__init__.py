"""Running code in the sandbox.

run_code.py     `python_run` and `shell_run`
run_script.py   `run_script`, for a skill's own scripts
boxed_run.py    one sandboxed command and its envelope
"""
