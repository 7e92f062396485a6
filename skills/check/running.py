"""The last rule for a tool: it is run, once as its author shows and once wrongly."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from skills.check import wording
from skills.check.finding import Finding
from skills.programs.executable import ExecutableTool
from skills.programs.protocol import Answer

if TYPE_CHECKING:
    from skills.programs.executable import CallLog
    from skills.tools.envelope import Envelope
    from skills.tools.parameter import Parameter

WRONG: dict[str, Any] = {"string": 7, "integer": "x", "number": "x", "boolean": "x", "array": 7, "object": 7}
CAUSE = re.compile(r"^(?:[\w.]*(?:Error|Exception|Exit)\w*|panic|fatal)\b.*", re.MULTILINE)
PYTHON_LINE = re.compile(r'File "[^"\n]*?([^/"\n]+)", line (\d+)')


async def ran(tool: ExecutableTool) -> list[Finding]:
    """What shows only when it runs."""
    logs: list[CallLog] = []
    heard = ExecutableTool(tool.manifest, replace(tool.host, log=logs.append))
    return [*await _by_example(heard, logs), *await _wrongly(heard, logs)]


async def _by_example(tool: ExecutableTool, logs: list[CallLog]) -> list[Finding]:
    manifest = tool.manifest
    needs = any(parameter.required for parameter in manifest.parameters)
    if needs and not manifest.docs.examples:
        message = f"{manifest.name} has no example to run"
        line = manifest.spot.line("docs", "examples")
        return [Finding("run-example", "error", line, message, "write one under docs.examples")]
    arguments = manifest.docs.examples[0].arguments if manifest.docs.examples else {}
    envelope = await tool.call(arguments)
    if envelope.status != "error":
        return []
    line = manifest.spot.line("docs", "examples", 0)
    message = f"{manifest.name} fails on its first example: {_why(envelope, logs)}"
    if (manifest.network or manifest.env) and not tool.host.granting:
        remedy = "it ran without the network and variables that it asks for, since it is not trusted; use --trust"
        return [Finding("run-example", "warning", line, message, remedy)]
    return [Finding("run-example", "error", line, message, "mend the program or the example")]


async def _wrongly(tool: ExecutableTool, logs: list[CallLog]) -> list[Finding]:
    """A call past the check of arguments, as a program may get one from elsewhere."""
    manifest = tool.manifest
    arguments = wrong(manifest.parameters)
    if arguments is None:
        return []
    envelope, answer = await tool.probe(arguments)
    line, name = manifest.spot.line("entry"), manifest.name
    if not isinstance(answer, Answer):
        message = f"{name} does not answer wrong arguments by the protocol: {_why(envelope, logs)}"
        remedy = 'catch everything and print {"output": "", "error": "…"}'
        return [Finding("run-invalid", "error", line, message, remedy)]
    if not answer.error:
        message = f"{name} takes wrong arguments without an error: {arguments}"
        return [Finding("run-invalid", "error", line, message, "check the arguments first and answer an error")]
    findings = []
    if not wording.says_next_step(answer.error):
        message = f"{name}'s error does not say what to do next: {answer.error}"
        remedy = "write it as `<problem>: <value> — <next step>`"
        findings.append(Finding("error-form", "error", line, message, remedy))
    if not wording.same_language(answer.error, manifest.description):
        message = f"{name}'s error is in another language than its description: {answer.error}"
        findings.append(Finding("error-language", "error", line, message, "use one language for both"))
    return findings


def _why(envelope: Envelope, logs: list[CallLog]) -> str:
    """The envelope's error; a check has no trace to look at, so advice to do so is replaced by the cause."""
    what, _, advice = envelope.text.rpartition(" — ")
    if "trace" not in advice or not what:
        return envelope.text
    why = cause(logs[-1].stderr) if logs else ""
    return f"{what}: {why}" if why else what


def cause(stderr: str) -> str:
    """The line of a stack trace or a complaint that says what went wrong, and in Python where."""
    found: list[str] = CAUSE.findall(stderr)
    lines = found or [line for line in stderr.splitlines() if line.strip()]
    if not lines:
        return ""
    places = PYTHON_LINE.findall(stderr)
    where = f" ({places[-1][0]}, line {places[-1][1]})" if places else ""
    return lines[-1].strip()[:300] + where


def wrong(parameters: tuple[Parameter, ...]) -> dict[str, Any] | None:
    """Arguments that a tool must refuse: none where some are required, else one of another type."""
    if any(parameter.required for parameter in parameters):
        return {}
    if parameters:
        return {parameters[0].name: WRONG[parameters[0].type]}
    return None
