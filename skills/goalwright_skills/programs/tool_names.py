"""Names that tools may have; apart from `manifest`, which reads YAML."""

from __future__ import annotations

import re

NAME = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)+")
# Names of built-in tools, which nothing else may take: what a user switches on by them must be those.
RESERVED = frozenset({"python_run", "shell_run", "run_script"})
NAME_LIMIT = 64  # the limit of providers on a function's name
