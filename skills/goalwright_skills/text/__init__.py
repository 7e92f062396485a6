"""Small functions on text that every package may use: plurals, shortening, nearest names, broken characters.

Imports nothing else of goalwright.
"""
