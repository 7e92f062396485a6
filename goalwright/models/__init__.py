"""The models of a run: one for each role, and everything that wraps a call.

Imports goalwright.models.local, goalwright.models.litellm and goalwright.settings, never goalwright.runs. Start with roles.py, which stacks the layers.

roles.py        the model for each role, wrapped in the layers below
budget.py       sets aside what a call may take, waits for room, and stops once there is none
reservation.py  what a call may take at most
recording.py    records every call as events
metered.py      what each attempt took, estimated where the provider does not say
unpriced.py     models of unknown price
fallback.py     asks the next model when one fails
retry.py        retries transient failures
ways.py         the ways to get a model, for those who have none
open.py         opens a model by name: the embedded one, or one of litellm's
call_process/   makes calls in another process: for large batches, and for one run after the other
"""
