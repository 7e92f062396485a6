"""What one task does: it follows a skill, asks a model, or calls a tool.

`task_runner` runs one task; `assignment` is what its model is given, and `file_reader` reads files for a model without
tools. `model_loop` asks the model and calls tools until there is an answer, and `truncation` continues one that was cut
off. `form` reads an answer as JSON by a schema, and asks again with all faults; another call judges a result (`check`).
`synthesis` writes the run's answer, `data` puts it into the form that the user asked for (`data_schema`).

May import `results` and the wings below it; does not know `scheduling`. Start with `task_runner.py`.
"""
