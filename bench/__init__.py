"""Benchmarks: goalwright against the least that the work can cost, and against what you might use instead.

    python -m bench                     everything; writes docs/benchmarks.md
    python -m bench engine journal      some of it
    python -m bench --quick             seconds each, without peers and without judging time
    python -m bench.engine              one of them, without writing the page; exits 1 if an aim is missed

startup    commands, and the time until the first model call leaves
engine     the scheduler, without and with a journal
journal    rows a second, and reading a large journal
discovery  finding thousands of skills
skills_scale   selection among up to 80,000 skills: time, memory, index
tools      tool calls behind each wall
batch      calls a second, slow providers, memory
crash      kill -9 at random moments
growth     exponents of time and memory
cluster    Ray and PostgreSQL: CPU, memory, a million runs

Each is a module here that says what is measured, the floor and the peers. `harness` has what they share, `peers` the
programs that run in other projects' environments.
"""
