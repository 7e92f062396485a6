"""The live view of a run: its state, folded from events and redrawn in place to fit the terminal."""
