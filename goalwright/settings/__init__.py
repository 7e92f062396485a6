"""The configuration of a run: settings, folders, and the model to use when none is named.

Imports nothing else of goalwright. Start with settings.py.

settings.py        every setting with its default and help text
resolve.py         the settings in force: flag > environment > goalwright.toml > config.toml
convert.py         values from TOML or text, converted to the types of settings
skill_lists.py     the lists in [skills], joined over the files
untrusted.py       what the settings of an untrusted workspace may do
user_config.py     changes one setting in the user's config.toml
paths.py           the workspace and the user's own folders
find_workspace.py  the workspace of a subfolder
journal_place.py   the URL of a workspace's journal
default_model.py   the model to use when none is named; default_models.yaml has one for each provider
ollama.py          finds a running Ollama and picks one of its models
ray_security.py    whether a Ray cluster is this machine, and asks for a token
"""
