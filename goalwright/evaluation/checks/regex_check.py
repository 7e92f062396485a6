"""The check `regex`: a pattern may be a stranger's, and some take longer than anybody waits."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goalwright.evaluation.checks import regex_worker
from goalwright.evaluation.checks.answer_checks import EVIDENCE, CheckResult
from goalwright_skills.text.formatting import shorten

if TYPE_CHECKING:
    from goalwright.evaluation.checks.check import CaseCheck
    from goalwright_executor.history.result import Result

SECONDS = 2.0  # of CPU time for a match


class MatchTooSlow(Exception):
    """The pattern took too long, or too much memory."""


@dataclass(slots=True)
class RegexMatcher:
    """Matches patterns in a worker process, which is started when it is needed; `close` ends it."""

    _process: subprocess.Popen[bytes] | None = None

    def search(self, pattern: str, text: str, *, exact: bool) -> str | None:
        """What the pattern finds, None if that is nothing; raises MatchTooSlow."""
        process = self._running()
        order = {"pattern": pattern, "text": text, "exact": exact, "seconds": SECONDS, "longest": EVIDENCE}
        assert process.stdin is not None and process.stdout is not None  # noqa: S101, PT018 - pipes, as ordered
        try:
            process.stdin.write(json.dumps(order).encode() + b"\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except OSError:
            line = b""
        if not line:
            self.close()
            raise MatchTooSlow
        found: str | None = json.loads(line)
        return found

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            command = [sys.executable, "-I", "-S", regex_worker.__file__]
            pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
            # A session of its own: Ctrl-C at the terminal is not for it.
            self._process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=nothing, cwd="/", env={}, start_new_session=True
            )
        return self._process

    def close(self) -> None:
        """End the worker."""
        process, self._process = self._process, None
        if process is not None:
            with process:
                process.kill()


def regex_check(check: CaseCheck, result: Result, matcher: RegexMatcher) -> CheckResult:
    """Whether something in the answer matches; a pattern that takes too long does not."""
    try:
        found = matcher.search(check.value, result.answer or "", exact=check.exact)
    except MatchTooSlow:
        told = f"the pattern takes longer than {SECONDS:g} s, or too much memory; write a simpler one"
        return CheckResult(check.name, passed=False, evidence=told)
    evidence = "nothing in the answer matches" if found is None else shorten(found, EVIDENCE)
    return CheckResult(check.name, found is not None, evidence)
