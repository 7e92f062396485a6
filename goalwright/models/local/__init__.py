"""The embedded model behind `--model local`: what can be pulled, pulling it, and serving it.

Imports goalwright.models.litellm and goalwright.settings. Start with model.py (the port) or downloads/pull.py.

model.py       the model behind planner.model's port
catalogue.py   the models in catalogue.yaml; model_list.py, with what is installed of them
store.py       the folder of installed models
errors.py      what can go wrong
downloads/     getting a model onto this machine
serving/       the model as a server on loopback
backends/      what runs the model in that process on this machine, and how it is fetched
"""
