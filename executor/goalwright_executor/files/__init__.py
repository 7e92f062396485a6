"""Files that the user attached, for models that cannot read files themselves.

`text` reads a file, `parts` divides it and chooses parts, `given` decides what each task gets and reports what was not
read, `images` keeps the images of a run, `named` finds the files that a goal names. May import `capture`. Start with
`given.py`.
"""
