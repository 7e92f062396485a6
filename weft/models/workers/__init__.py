"""Model calls in processes of their own, so that a large batch is not bound to one core.

Start with pool.py, weft's side; worker.py is the process; frames.py is how they talk.
Imports what weft.models imports.
"""
