"""What is asked of a task's result: a form that it must have, and a check that it must pass.

`assignment` is what a task's model is given; `form` reads an answer as JSON by a schema, and asks again with all
faults; `check` has another call judge a result; `kept` is the port through which results of other runs are found;
`kept_files` are the files that tools left.

May import the modules beside this folder, except `runner` and `schedule`, which use it. Start with `assignment.py`.
"""
