"""The litellm adapter, the only code that knows litellm: it implements the planner's `Model`.

Imports goalwright.settings and the packages below goalwright. Start with model.py.

model.py            a model behind litellm: requests and replies in litellm's form
lifecycle.py        imports litellm late, since that takes seconds, and closes its connections
errors.py           litellm's exceptions mapped to those of planner.errors
capabilities.py     which response formats and tools a model accepts, remembered between runs
prices.py           the price of a model and the length of its answers
estimates.py        the tokens of a text, for providers that report no usage
http_limits.py      limits on the size of responses
keys.py             the environment variables with providers' keys
stored_keys.py      keys stored by `goalwright keys`; keyring.py, the system's keyring
prompted_tools.py   tools described in the prompt, for models without tool calls
"""
