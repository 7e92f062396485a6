"""The litellm adapter, the only code that knows litellm: planner.model's port on one side, providers on the other.

Imports goalwright.settings and the packages below goalwright. Start with litellm_model.py.

litellm_model.py   a model behind the port; litellm is imported late, because that takes seconds
litellm_errors.py  litellm's exceptions mapped to those of planner.errors
connections.py     litellm's connections, closed once nothing uses them
capabilities.py    which response formats and tools a model accepts, remembered between runs
prices.py          what a model charges, how long its answers can be, and the tokens of a prompt
http_limits.py     how much a provider may send; litellm_texts.py bounds what litellm searches of it
keys.py            which provider needs which variable; stored_keys.py and keyring.py, keys that `goalwright keys` keeps
prompted_tools.py  tools described in the prompt, for models without tool calls
"""
