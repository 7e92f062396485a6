"""Files that the user gave, for models that cannot read files themselves: their text, whole or in parts.

`text` reads a file, `parts` divides it and chooses what to read, `given` says what each task gets and what was never
read, `named` finds the files that a goal names. May import `capture`. Start with `given.py`.
"""
