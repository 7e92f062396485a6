"""The rules for the behaviour of a trusted tool, called with its first example and with wrong arguments."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goalwright_skills.check import wording
from goalwright_skills.check.finding import Finding
from goalwright_skills.programs import toolchain
from goalwright_skills.programs.executable import ExecutableTool
from goalwright_skills.programs.protocol import ProgramAnswer

if TYPE_CHECKING:
    from goalwright_skills.tools.envelope import CallLog, Envelope
    from goalwright_skills.tools.parameter import Parameter

WRONG: dict[str, Any] = {"string": 7, "integer": "x", "number": "x", "boolean": "x", "array": 7, "object": 7}
CAUSE = re.compile(r"^(?:[\w.]*(?:Error|Exception|Exit)\w*|panic|fatal)\b.*", re.MULTILINE)
PYTHON_LINE = re.compile(r'File "[^"\n]*?([^/"\n]+)", line (\d+)')


async def ran(tool: ExecutableTool) -> list[Finding]:
    """Call a tool with its example and with wrong arguments; an untrusted tool is neither built nor run."""
    manifest = tool.manifest
    if not tool.host.trusted(manifest.folder):
        message = f"{manifest.name} was not run: it is not trusted yet"
        remedy = "read its program, trust it, then check again"
        return [Finding("run-trust", "warning", manifest.spot.line("entry"), message, remedy)]
    if (program := _missing(manifest.runtime)) is not None:
        message = f"{manifest.name} was not run: {program} is missing"
        remedy = f"install {program}, then check again"
        return [Finding("run-runtime", "warning", manifest.spot.line("runtime"), message, remedy)]
    logs: list[CallLog] = []
    logged = ExecutableTool(tool.manifest, replace(tool.host, log=logs.append))
    return [*await _with_example(logged, logs), *await _with_wrong_arguments(logged, logs)]


def _missing(runtime: str) -> str | None:
    """Return the program that a runtime needs, if it is not installed."""
    return runtime if runtime in ("go", "node") and toolchain.which(runtime) is None else None


async def _with_example(tool: ExecutableTool, logs: list[CallLog]) -> list[Finding]:
    manifest = tool.manifest
    needs_arguments = any(parameter.required for parameter in manifest.parameters)
    if needs_arguments and not manifest.docs.examples:
        message = f"{manifest.name} has no example to run"
        line = manifest.spot.line("docs", "examples")
        return [Finding("run-example", "error", line, message, "write one under docs.examples")]
    arguments = manifest.docs.examples[0] if manifest.docs.examples else {}
    envelope = await tool.call(arguments)
    if envelope.status != "error":
        return []
    line = manifest.spot.line("docs", "examples", 0)
    message = f"{manifest.name} fails on its first example: {_why(envelope, logs)}"
    return [Finding("run-example", "error", line, message, "fix the program or the example")]


async def _with_wrong_arguments(tool: ExecutableTool, logs: list[CallLog]) -> list[Finding]:
    """Call the program without goalwright's own validation of arguments."""
    manifest = tool.manifest
    arguments = wrong(manifest.parameters)
    if arguments is None:
        return []
    envelope, answer = await tool.probe(arguments)
    line, name = manifest.spot.line("entry"), manifest.name
    if not isinstance(answer, ProgramAnswer):
        message = f"{name} does not follow the protocol on wrong arguments: {_why(envelope, logs)}"
        remedy = 'catch every error and print {"output": "", "error": "…"}'
        return [Finding("run-invalid", "error", line, message, remedy)]
    if not answer.error:
        message = f"{name} accepts wrong arguments without an error: {arguments}"
        return [Finding("run-invalid", "error", line, message, "check the arguments first and return an error")]
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
    """Return the envelope's error; a check has no trace, so advice to look at the trace is replaced by the cause."""
    message, _, advice = envelope.text.rpartition(" — ")
    if "trace" not in advice or not message:
        return envelope.text
    reason = cause(logs[-1].stderr) if logs else ""
    return f"{message}: {reason}" if reason else message


def cause(stderr: str) -> str:
    """Return the line of stderr that names the error, with the file and line of a Python traceback."""
    errors: list[str] = CAUSE.findall(stderr)
    lines = errors or [line for line in stderr.splitlines() if line.strip()]
    if not lines:
        return ""
    frames = PYTHON_LINE.findall(stderr)
    location = f" ({frames[-1][0]}, line {frames[-1][1]})" if frames else ""
    return lines[-1].strip()[:300] + location


def wrong(parameters: tuple[Parameter, ...]) -> dict[str, Any] | None:
    """Return arguments that a tool must reject: none at all if some are required, else one of the wrong type."""
    if any(parameter.required for parameter in parameters):
        return {}
    if parameters:
        return {parameters[0].name: WRONG[parameters[0].type]}
    return None
