"""Results with a form: what a task may ask of its result.

`output_schema` is the part of JSON Schema that a form may use; `result_keys` are the keys of a task and their faults.
"""
