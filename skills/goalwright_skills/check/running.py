"""The rules for calling a trusted tool: once with its author's example and once with wrong arguments."""

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
    """Call a tool with its example and with wrong arguments, if it is trusted; nothing of it is built or run before."""
    manifest = tool.manifest
    if not tool.host.trusted(manifest.folder):
        message = f"{manifest.name} was not run: it is not trusted yet"
        remedy = "read its program, then check again with --trust"
        return [Finding("run-trust", "warning", manifest.spot.line("entry"), message, remedy)]
    if (program := _missing(manifest.runtime)) is not None:
        message = f"{manifest.name} was not run: {program} is missing"
        remedy = f"install {program}, then check again"
        return [Finding("run-runtime", "warning", manifest.spot.line("runtime"), message, remedy)]
    logs: list[CallLog] = []
    logged = ExecutableTool(tool.manifest, replace(tool.host, log=logs.append))
    return [*await _with_example(logged, logs), *await _with_wrong_arguments(logged, logs)]


def _missing(runtime: str) -> str | None:
    """The program that a runtime needs and this machine lacks."""
    return runtime if runtime in ("go", "node") and toolchain.which(runtime) is None else None


async def _with_example(tool: ExecutableTool, logs: list[CallLog]) -> list[Finding]:
    manifest = tool.manifest
    needs = any(parameter.required for parameter in manifest.parameters)
    if needs and not manifest.docs.examples:
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
    """Call the program without goalwright's own check of arguments."""
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
    """The envelope's error; a check has no trace to look at, so advice to do so is replaced by the cause."""
    what, _, advice = envelope.text.rpartition(" — ")
    if "trace" not in advice or not what:
        return envelope.text
    why = cause(logs[-1].stderr) if logs else ""
    return f"{what}: {why}" if why else what


def cause(stderr: str) -> str:
    """The line of a traceback or other stderr that says what went wrong, and where if it is Python's."""
    found: list[str] = CAUSE.findall(stderr)
    lines = found or [line for line in stderr.splitlines() if line.strip()]
    if not lines:
        return ""
    places = PYTHON_LINE.findall(stderr)
    where = f" ({places[-1][0]}, line {places[-1][1]})" if places else ""
    return lines[-1].strip()[:300] + where


def wrong(parameters: tuple[Parameter, ...]) -> dict[str, Any] | None:
    """Arguments that a tool must reject: none if some are required, else one of the wrong type."""
    if any(parameter.required for parameter in parameters):
        return {}
    if parameters:
        return {parameters[0].name: WRONG[parameters[0].type]}
    return None
