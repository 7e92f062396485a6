"""Commands for the machine and the workspace: models, keys, init, doctor, serve and acp."""
