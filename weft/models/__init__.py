"""The models of a run: one for each role, and everything that wraps a call.

Imports weft.local, weft.providers and weft.settings, never weft.runs. Start with roles.py, which stacks the layers.

roles.py      the model for each role, wrapped in the layers below
budget.py     stops before a call once a limit is reached
recording.py  records every call as events
fallback.py   asks the next model when one fails
retry.py      retries transient failures
open.py       opens a model by name: the embedded one, or one of litellm's
workers/      makes calls in other processes, for large batches
"""
