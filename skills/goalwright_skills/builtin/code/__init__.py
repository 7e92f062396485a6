"""Running code behind the walls: `python_run`, `shell_run`, and `run_script` for a skill's own scripts.

boxed_run.py     one command in a box, and its envelope; live_output.py shows what it writes meanwhile
python_run.py, shell_run.py, run_script.py   the tools; shell_rules.py is what the user allows commands
"""
