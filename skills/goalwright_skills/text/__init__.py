"""Functions on text that every package may use; imports no other part of goalwright."""
