"""Recipes: plans that were good once, kept as files with parameters, and used again for goals that are like theirs."""
