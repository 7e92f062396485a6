"""`python -m bench [NAME…] [--json] [--quick]`."""

from __future__ import annotations

import sys

from bench.harness.command import main

if __name__ == "__main__":
    sys.exit(main())
