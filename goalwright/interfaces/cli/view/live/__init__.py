"""A run while it runs: its state folded from events, drawn to fit the terminal, redrawn in place."""
