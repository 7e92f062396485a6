"""The check `regex`: matches untrusted patterns in a child process with a CPU time limit."""

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
    """Matches patterns in a worker process that starts on first use."""

    _process: subprocess.Popen[bytes] | None = None

    def search(self, pattern: str, text: str, *, exact: bool) -> str | None:
        """Return the first match, or None; raises MatchTooSlow."""
        process = self._worker()
        request = {"pattern": pattern, "text": text, "exact": exact, "seconds": SECONDS, "longest": EVIDENCE}
        assert process.stdin is not None and process.stdout is not None  # noqa: S101, PT018 - both are pipes
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except OSError:
            line = b""
        if not line:
            self.close()
            raise MatchTooSlow
        match: str | None = json.loads(line)
        return match

    def _worker(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            command = [sys.executable, "-I", "-S", regex_worker.__file__]
            pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
            # A new session, so that Ctrl-C at the terminal does not reach the worker.
            self._process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=nothing, cwd="/", env={}, start_new_session=True
            )
        return self._process

    def close(self) -> None:
        """Stop the worker."""
        process, self._process = self._process, None
        if process is not None:
            with process:
                process.kill()


def regex_check(check: CaseCheck, result: Result, matcher: RegexMatcher) -> CheckResult:
    """Check that the answer has a match; a pattern that takes too long has none."""
    try:
        match = matcher.search(check.value, result.answer or "", exact=check.exact)
    except MatchTooSlow:
        reason = f"the pattern takes longer than {SECONDS:g} s, or too much memory; write a simpler one"
        return CheckResult(check.name, passed=False, evidence=reason)
    evidence = "nothing in the answer matches" if match is None else shorten(match, EVIDENCE)
    return CheckResult(check.name, match is not None, evidence)
