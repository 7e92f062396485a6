"""A language model on this machine: its catalogue, pulling it, serving it, and planning with a small one."""
