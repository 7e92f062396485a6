"""From a model's answer or a file to a plan document and its faults.

A text becomes JSON (`plan_answer`, `loose_json`), then a document in normal form (`normal_form`), which `plan`
validates. `shape` and `schema` are the forms in which a model is asked for a plan.

Start with `plan_answer.py`.
"""
