"""Goals of ten kinds, for `bench.recipes`: which are like the first of their kind, and which only look so."""
