"""Running code behind the walls: `python_run`, `shell_run`, and `run_script` for a skill's own scripts.

boxed_run.py    one command in a box, and its envelope
tools.py        python_run and shell_run
script_tool.py  run_script
"""
