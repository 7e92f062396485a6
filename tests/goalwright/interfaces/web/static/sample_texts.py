"""The texts of the sample workspace's runs."""

from __future__ import annotations

GOAL = "Compare three caches for our API and recommend one, with a benchmark plan and a migration guide"
MODEL = "anthropic/claude-sonnet-4-5"
RUNNING = "20261115T104747104-ac75a7"
DONE = "20261115T093000000-d0e5f1"
RERUN = "20261115T094500000-e2a911"
ASKS = "20261115T101500000-a5c3d2"
BATCH = "tickets-2026-11"
EVALUATION = "20260514T101500000-e4a1b2"
REDIS = """## Redis 8

Fits **all four** needs. Measured against the traffic profile:

| measure | value |
|---|---|
| hit rate at 2 GiB | 94.1 % |
| p99 read | 0.7 ms |
| memory per entry | 412 B |

- Persistence may stay *off*: the API can rebuild within 40 s.
- `allkeys-lfu` fits the long tail better than `allkeys-lru`.

```python
client = redis.Redis(protocol=3)
```
"""
ANSWER = """Take **Redis 8**, without persistence and with `allkeys-lfu`.

1. It is the only option below 2 ms at the 99th percentile with the measured mix of reads and writes.
2. The API rebuilds a cold cache in 40 s, so nothing has to be kept on disk.
3. The migration takes two steps, each of which can be taken back.

The hosted prices could not be read: the monthly cost is left open.
"""
# id, kind, skill or tool, title, dependencies, start and end in seconds; without an end it is running
TASKS: tuple[tuple[str, str, str | None, str, tuple[str, ...], float | None, float | None], ...] = (
    ("needs", "skill", "reading-requirements", "Gather the API's needs", (), 4.1, 9.8),
    ("traffic", "tool", "log_stats", "Measure traffic from logs", (), 4.1, 6.0),
    ("code", "tool", "ReadFile", "Read the data layer", (), 4.1, 4.6),
    ("redis", "skill", "comparing-options", "Profile Redis", ("needs", "traffic"), 9.8, 18.9),
    ("memcached", "skill", "comparing-options", "Profile Memcached", ("needs", "traffic"), 9.8, 15.2),
    ("inproc", "skill", "comparing-options", "Profile an in-process cache", ("needs", "traffic", "code"), 9.8, 13.7),
    ("licences", "llm", None, "Check licences", (), 4.1, 7.3),
    ("pricing", "tool", "WebFetch", "Fetch hosted prices", (), 4.1, 12.4),
    ("cost", "llm", None, "Estimate monthly cost", ("pricing", "traffic"), None, None),
    ("matrix", "skill", "comparing-options", "Build the comparison matrix",
     ("redis", "memcached", "inproc", "licences"), 18.9, 25.6),
    ("bench-plan", "skill", "benchmark-planning", "Write the benchmark plan", ("matrix",), 25.6, 34.2),
    ("migrate", "skill", "migration-guides", "Write the migration guide", ("matrix", "code"), 25.6, 31.8),
    ("risks", "llm", None, "List risks and rollbacks", ("matrix",), 25.6, 29.9),
    ("recommend", "llm", None, "Recommend one cache", ("bench-plan", "migrate", "risks"), 34.2, 39.5),
)  # fmt: skip
ARGUMENTS = {
    "traffic": {"path": "logs/access.log"},
    "code": {"path": "src/data.py"},
    "pricing": {"url": "https://prices.example"},
}
SELECTED = [
    {"name": "comparing-options", "score": 0.86, "reason": "words of the goal in its description: compare, recommend"},
    {"name": "benchmark-planning", "score": 0.71, "reason": "words of the goal in its description: benchmark, plan"},
    {"name": "migration-guides", "score": 0.64, "reason": "words of the goal in its description: migration, guide"},
]
SKILLS = {
    "comparing-options": "Compare options against needs and recommend one, with evidence.",
    "benchmark-planning": "Write a benchmark plan: what is measured, where, and what would change the decision.",
    "migration-guides": "Write guides that move a system from one part to another, with a way back for every step.",
    "reading-requirements": "Gather what a system needs from code, logs and notes, as short testable statements.",
}
STEPS = """Give the evidence first, then a judgement.

## Steps

1. Read what is there.
2. Measure.
3. Say what would change your mind.
"""
CHANGES = (
    (
        "src/cache.py",
        "SIZE = 512\n\n\ndef get(key):\n    return None\n",
        "SIZE = 2048\n\n\ndef get(key):\n    return None\n",
    ),
    ("docs/decision.md", None, "# Cache\n\nRedis, with `allkeys-lfu`.\n"),
)
SERVERS = {
    "files": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "docs"]},
    "issues": {
        "type": "http",
        "url": "https://mcp.example.com",
        "headers": {"Authorization": "Bearer ${ISSUES_TOKEN}"},
    },
    "old": {"command": "node", "args": ["old.js"], "disabled": True},
}
CONVERSATION = "c20261114T101500000-c4c4e5"
_POLICIES = """For a **long tail** of keys, `allkeys-lfu`: it keeps what is read often, however long ago that was.

| policy | keeps | when |
|---|---|---|
| `allkeys-lru` | what was read last | reads follow each other closely |
| `allkeys-lfu` | what is read most | a few keys are hot, most are rare |
| `volatile-ttl` | what lives longest | every key has a lifetime |
"""
_SETTINGS = """For 2 GiB, with room for copies while it writes:

```conf
maxmemory 1600mb
maxmemory-policy allkeys-lfu
lfu-decay-time 10
```

Watch `evicted_keys`: if it climbs while the hit rate stays above 94 %, the size is right.
"""
# Runs of a conversation: id, goal, answer and the titles of its tasks.
TURNS: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("20261114T101500000-c4c4e1", "Which eviction policy fits a long tail of keys?", _POLICIES, ()),
    (
        "20261114T101600000-c4c4e2",
        "Write the Redis settings for that, for 2 GiB",
        _SETTINGS,
        ("Work out the memory that is left", "Write the settings"),
    ),
)
