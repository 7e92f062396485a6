"""Benchmarks, each run as `python -m bench.NAME`; most compare weft with a bare loop and exit 1 if a bound is exceeded.

startup    `weft --help` against an empty Python program
engine     the scheduler against a bare loop, LangGraph and the critical path
journal    the cost of recording everything
batch      calls per second and memory of `weft batch`
tools      confined tool calls against bare processes
discovery  finding thousands of skills
selection  how well goals find their skills (prints quality figures, no bounds)
"""
