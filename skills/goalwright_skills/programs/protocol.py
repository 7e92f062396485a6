"""A tool's protocol: one line of JSON as input; log lines and one final line of JSON as output."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from goalwright_skills.text.formatting import clip
from goalwright_skills.text.untrusted import join_surrogates

SHOWN = 200
_MEMBER = re.compile(r'[\s,]*(?P<name>"(?:[^"\\]|\\.)*")\s*:\s*')
_NORMALISED = re.compile(r"\\u|NaN|Infinity")


@dataclass(frozen=True, slots=True)
class ProgramAnswer:
    """A tool's answer: its `text` as written, its `value` if it is JSON other than a string, and the log before it."""

    text: str
    error: str = ""
    value: Any = None
    log: str = ""


@dataclass(frozen=True, slots=True)
class Garbled:
    """Output that is not an answer, and the reason."""

    what: str
    log: str = ""


def request(arguments: dict[str, Any]) -> bytes:
    """Return the line that a tool reads from standard input."""
    return json.dumps({"arguments": arguments}, ensure_ascii=False).encode() + b"\n"


def parse(stdout: str) -> ProgramAnswer | Garbled:
    """Parse the answer on the last non-blank line."""
    lines = stdout.removeprefix("\ufeff").rstrip().split("\n")  # PowerShell and .NET write a byte order mark
    last, log = lines[-1].strip(), "\n".join(lines[:-1])
    if not last:
        return Garbled("it ended without an answer line")
    try:
        document = join_surrogates(json.loads(last, parse_constant=_null))
    except (ValueError, RecursionError):
        return Garbled(f"its last line is not JSON: {clip(last, SHOWN)}", log=stdout)
    if not isinstance(document, dict) or not {"output", "error"} & document.keys():
        return Garbled(f'its last line is not {{"output": …, "error": …}}: {clip(last, SHOWN)}', log=stdout)
    output, error = document.get("output", ""), document.get("error") or ""
    text = output if isinstance(output, str) else _as_written(last, output)
    if output is None:
        text = ""
    value = None if isinstance(output, str) else output
    return ProgramAnswer(text, error if isinstance(error, str) else json.dumps(error, ensure_ascii=False), value, log)


def _as_written(line: str, output: Any) -> str:
    """Return the JSON of an output as the program wrote it, unless it contains escapes or NaN."""
    decoder, offset, written = json.JSONDecoder(), 1, ""
    while (match := _MEMBER.match(line, offset)) is not None:
        _, offset = decoder.raw_decode(line, match.end())
        if json.loads(match["name"]) == "output":
            written = line[match.end() : offset]
    return json.dumps(output, ensure_ascii=False) if not written or _NORMALISED.search(written) else written


def _null(_name: str) -> None:
    """Replace NaN and Infinity, which Python writes but JSON lacks, by null, as JavaScript does."""
