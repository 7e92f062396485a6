"""What json-repair makes of damaged texts."""

from __future__ import annotations

import json_repair

from bench.peers.report import given, report


def main() -> None:
    """Repair each text."""
    for text in given():
        report(document=json_repair.loads(text))


if __name__ == "__main__":
    main()
