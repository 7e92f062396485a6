"""In-process tools: each typed function in the entry-point group `goalwright.tools` becomes a tool.

The schema comes from the signature, the descriptions from the docstring: its first paragraph describes the tool,
its `Args:` section the parameters. A parameter `workspace: Path` is filled in and not shown to the model. Exceptions
are logged for the function's author; the model only sees their type.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import time
import traceback
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any

from goalwright_skills.functions.entry_points import entry_points
from goalwright_skills.functions.installed import GROUP, explain, switched_off, wrong_name
from goalwright_skills.functions.signature import WORKSPACE, offered
from goalwright_skills.text.untrusted import join_surrogates
from goalwright_skills.tools.artifacts import Output
from goalwright_skills.tools.disk_use import DiskLimits
from goalwright_skills.tools.envelope import CallLog, Context, Envelope, failure, no_log, tail, time_since
from goalwright_skills.tools.parameter import Parameter, check_arguments, schema
from goalwright_skills.tools.tool import ToolFault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from goalwright_skills.functions.entry_points import EntryPoint
    from goalwright_skills.preferences import Preferences


@dataclass(frozen=True, slots=True)
class FunctionTool:
    """A function as a tool, bound to a workspace and, within a run, to that run's artifacts."""

    name: str
    function: Callable[..., Any]
    workspace: Path
    inputs: tuple[Parameter, ...]
    description: str
    artifacts: Path | None = None
    disk: DiskLimits = field(default_factory=DiskLimits)
    log: Callable[[CallLog], None] = no_log

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Its parameters as a JSON schema of type object."""
        return schema(self.inputs)

    async def call(self, arguments: Mapping[str, Any]) -> Envelope:
        """Call the function. Every failure is an envelope, never an exception."""
        start = time.monotonic()
        context = Context(str(self.workspace), join_surrogates(dict(arguments)))
        # NaN and Infinity are kept, so that the function can reject them: null would count as a missing value.
        filled, faults = check_arguments(self.inputs, join_surrogates(dict(arguments), keep_numbers=True))
        if faults:
            return failure("INVALID_PARAM", "; ".join(faults), context)
        try:
            output = self._output(await self._result(filled))
            return output.envelope(context, self.artifacts, time_since(start), self.disk)
        except ToolFault as fault:
            return failure(fault.code, fault.message, context, time_ms=time_since(start))
        except asyncio.CancelledError as error:
            if (task := asyncio.current_task()) is None or task.cancelling():
                raise
            return self._failed(error, context, start)  # the cancellation of a task inside the function
        except (Exception, SystemExit) as error:  # noqa: BLE001  third-party code may raise anything
            return self._failed(error, context, start)

    def _failed(self, error: BaseException, context: Context, start: float) -> Envelope:
        raised = error.error if isinstance(error, _RaisedInThreadError) else error
        lines = "".join(traceback.format_exception(raised))
        seconds = time.monotonic() - start
        self.log(CallLog(self.name, tail(f"{type(raised).__name__}: {raised}"), tail(lines), 1, seconds))
        message = f"{self.name} failed: {type(raised).__name__} — try other arguments, or tell its author"
        return failure("EXECUTION_ERROR", message, context, time_ms=time_since(start))

    def _output(self, result: Any) -> Output:
        """Return the result as text or as JSON; NaN becomes null."""
        if isinstance(result, str):
            return Output(self.name, join_surrogates(result))
        text = json.dumps(result, ensure_ascii=False, default=_plain)
        value = join_surrogates(json.loads(text, parse_constant=lambda _: None))
        return Output(self.name, "" if value is None else json.dumps(value, ensure_ascii=False), value)

    async def _result(self, filled: dict[str, Any]) -> Any:
        if WORKSPACE in inspect.signature(self.function).parameters and WORKSPACE not in filled:
            filled = filled | {WORKSPACE: self.workspace}
        if inspect.iscoroutinefunction(self.function):
            return await self.function(**filled)
        result = await asyncio.to_thread(_in_thread, self.function, filled)
        # A decorated async function may not look like one.
        return await result if inspect.isawaitable(result) else result


class _RaisedInThreadError(Exception):
    """Wraps an exception that a thread cannot pass on: StopIteration, SystemExit and the like."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(str(error))
        self.error = error


def _in_thread(function: Callable[..., Any], filled: dict[str, Any]) -> Any:
    try:
        result = function(**filled)
        return list(result) if inspect.isgenerator(result) else result
    except BaseException as error:
        if isinstance(error, Exception) and not isinstance(error, StopIteration):
            raise
        raise _RaisedInThreadError(error) from error


def _plain(value: Any) -> Any:
    """Convert a value that JSON lacks to its fields or items, or else to text."""
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: getattr(value, item.name) for item in fields(value)}
    if isinstance(value, set | frozenset):
        return list(value)
    dump = getattr(value, "model_dump", None)  # pydantic's
    return dump(mode="json") if callable(dump) else str(value)


def tool(function: Callable[..., Any], name: str, workspace: Path) -> FunctionTool:
    """Return a function as a tool; raises TypeError if its signature cannot be expressed as a schema."""
    return FunctionTool(name, function, workspace, *offered(function, name))


def discover(
    workspace: Path,
    environ: Mapping[str, str],
    preferences: Preferences,
    found: Iterable[EntryPoint] | None = None,
) -> tuple[list[FunctionTool], list[str]]:
    """Return the installed tools that are switched on, and a note on each tool: its origin, or why it is ignored."""
    tools: list[FunctionTool] = []
    notes: list[str] = []
    for point in sorted(entry_points(GROUP) if found is None else found, key=lambda point: point.name):
        reason = switched_off(point.name, environ, preferences)
        if reason:
            notes.append(f"{point.name}: {reason}")
            continue
        if fault := wrong_name(point):
            notes.append(f"{point.name}: ignored, {fault}")
            continue
        try:
            tools.append(tool(point.load(), point.name, workspace))
        except Exception as error:  # noqa: BLE001  another package's module may raise anything when it is imported
            notes.append(f"{point.name}: ignored, {explain(error)}; fix {point.value} or install what it needs")
        else:
            notes.append(f"{point.name}: registered from {point.value}")
    return tools, notes
