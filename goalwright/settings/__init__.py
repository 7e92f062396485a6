"""What a run is configured with: settings, folders, and the model to use when none is named.

Imports nothing else of goalwright. Start with settings.py.

settings.py       every setting with its help text, and `resolve`: flag > environment > goalwright.toml > config.toml
paths.py          the workspace and the user's own folders
find_workspace.py the workspace that a subfolder belongs to
journal_place.py  where a workspace's journal is, and its runs for reading
default_model.py  the model to use when none is named; default_models.yaml has one for each provider
skill_lists.py    the lists of [skills], joined over the files
variables.py      variables that look like settings but are not
ollama.py         finds a running Ollama and picks one of its models
"""
