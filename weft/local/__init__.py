"""A language model in the process: its catalogue, pulling it, serving it, and planning with a small one."""
