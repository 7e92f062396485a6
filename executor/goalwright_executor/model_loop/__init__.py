"""Runs one task: follows a skill, asks a model or calls a tool.

`task_runner` runs a task, `assignment` has its prompt and the check of its result. `model_loop` asks the model and
calls tools until there is an answer, and continues truncated answers. `form` validates answers against a schema and
asks again with all faults; `file_reader` reads files for a model without tools. `synthesis` writes the run's answer;
`data_schema` is the form that a program wants it in.

May import `results` and the wings below it, but not `scheduling`. Start with `task_runner.py`.
"""
