"""The litellm adapter, the only code that knows litellm: planner.model's port on one side, providers on the other.

Imports weft.settings and the packages below weft. Start with litellm_model.py.

litellm_model.py   a model behind the port; litellm is imported late, because that takes seconds
litellm_errors.py  litellm's exceptions mapped to those of planner.errors
capabilities.py    which response formats and tools a model accepts, remembered between runs
prompted_tools.py  tools described in the prompt, for models without tool calls
"""
