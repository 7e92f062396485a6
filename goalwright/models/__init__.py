"""The models of a run: one for each role, and the layers around each call.

Start with roles.py. A call passes these layers, from the outside in:

memo            a call that finished before is not made again (goalwright_executor/results/memo.py)
recording.py    records the call as events
fallback.py     asks the next model if one fails
retry.py        retries transient failures
images.py       adds the images that the messages refer to
budget.py       reserves the most that the call may cost, waits for room, or stops the run
metered.py      adds the usage and cost of the attempt, estimated where the provider reports none
litellm/        the adapter for providers; local/ runs the embedded model

reservation.py  the most that a call may cost
choice.py       the models that the settings name, or the default one
open.py         opens a model by name
model_check.py  whether a model can be called, checked without calling it
call_process/   makes calls in another process: for large batches, and to keep litellm loaded between runs
"""
