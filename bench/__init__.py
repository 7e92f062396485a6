"""Benchmarks: goalwright beside the least that the work can cost, and beside other projects.

    python -m bench                     all benchmarks; writes docs/benchmarks.md
    python -m bench engine journal      some of them
    python -m bench --quick             seconds each, without peers and without time limits
    python -m bench.engine              one of them, without writing the page; exits 1 if an aim is missed

startup       commands, and the time to the first model call
engine        the scheduler, with and without a journal
journal       rows per second, and reading a large journal
discovery     scanning thousands of skills
skills_scale  selection among up to 80,000 skills: time, memory, index
tools         tool calls in each sandbox
batch         calls per second, slow providers, memory
crash         kill -9 at random moments
growth        how time and memory grow with size
web           the page in a real browser
run_search    searching up to 100,000 runs
cluster       Ray and PostgreSQL: CPU, memory, a million runs
local_model   CPU per token of the embedded model

Each module names what it measures, its floor and its peers. `harness` is the shared code; `peers` are programs that run
in the environments of other projects.
"""
