"""From a model's answer or a file to a plan document and its faults.

A text becomes JSON documents (`loose_json`), one of them the plan in its normal form (`normal_form`), which `plan`
validates. `shape` has the schemas with which models are asked for a plan, `change_answer` reads changes of a plan.

Start with `plan_answer.py`.
"""
