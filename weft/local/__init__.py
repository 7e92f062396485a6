"""The embedded model behind `--model local`: what can be pulled, pulling it, and serving it.

Imports weft.providers and weft.settings. Start with model.py (the port) or pull.py (the download).

model.py           the model behind planner.model's port; prompt_fit.py cuts prompts to its context window
server.py          the model as a server on loopback; server_process.py is that process, server_output.py what it prints
backends/          what runs the model in that process on this machine, and how it is fetched
endpoint.py        how a server is reached
speed.py           how fast a model runs here; speed_measurement.py measures it, time_limits.py gives calls their time
catalogue.py       the models in catalogue.yaml
pull.py            tries a model's sources in turn: download.py fetches a URL, wheel_parts.py joins parts from wheels
store.py           the folder of installed models
progress.py        how a pull reports its progress; errors.py has what can go wrong
"""
