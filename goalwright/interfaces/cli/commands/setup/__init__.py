"""Commands that prepare a machine or a workspace: `models`, `init`, `doctor` and `completion`."""
