"""The embedded model `local`: its catalogue, downloads and server.

Imports goalwright.models.litellm and goalwright.settings. Start with model.py (the port) or downloads/pull.py.

model.py       the embedded model as a `Model` of the planner
catalogue.py   the models in catalogue.yaml; model_list.py, these and the installed ones
store.py       the folder of installed models
errors.py      the errors of pulling
downloads/     downloads a model
serving/       the model as a server on loopback
backends/      the library or program that runs the model
"""
