"""A model as a server on loopback, and what its calls are given.

server         starts, shares and ends it; `server_process` is that process, `server_output` what it prints
endpoint       how a server is reached; `slots`, who is answered at a time
prompt_fit     cuts prompts to the context window; `prompt_states` keeps what was read of them
speed          how fast a model runs here; `speed_measurement` measures it, `time_limits` gives calls their time
"""
