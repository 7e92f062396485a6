"""Events of tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from goalwright_planner.events.event import Event, Hash
from goalwright_skills.image_file import Image

TaskStatus = Literal["done", "failed", "skipped", "unneeded", "cancelled", "pending"]
# The source of a result that was found under the request of its model.
FROM_CACHE = "cache"


class ConditionChecked(Event, frozen=True):
    """The condition of a task was checked: whether it holds, and the values or reason that decided it.

    With a `round`, the condition says whether the result of that round is the last one.
    """

    task: str
    condition: str | Mapping[str, Any]
    holds: bool
    why: str
    round: int | None = None


class TaskStarted(Event, frozen=True, gc=False):
    """A task started; `inputs` is the hash of its inputs."""

    task: str
    inputs: Hash = ""


class TaskReused(Event, frozen=True):
    """A task's output was taken from the parent run, from a file, or (`cache`) from another run of the same task.

    `artifacts` and `images` are the files that the task left in the parent's artifacts, in the form of tool results.
    """

    task: str
    output: str
    source: str
    artifacts: tuple[Mapping[str, Any], ...] = ()
    images: tuple[Image, ...] = ()


class SkillLoaded(Event, frozen=True):
    """A skill's body was loaded for a task."""

    task: str | None
    name: str
    content: str


class SkillShortened(Event, frozen=True):
    """A small model's prompt has a skill without these sections, or with parts of them only.

    `characters` is the length of the missing text.
    """

    task: str
    name: str
    left_out: tuple[str, ...]
    characters: int


class FilePart(msgspec.Struct, frozen=True):
    """A part of a file: its number, counted from 1, and its text."""

    number: int
    text: str


class FileRead(Event, frozen=True):
    """The parts of a file that a task's prompts contain, out of `of` parts.

    With `inline`, the task's own prompt contains them; otherwise they are read one by one. `sha256` is the hash of the
    file, `error` says why it could not be read.
    """

    task: str
    path: str
    sha256: str = ""
    characters: int = 0
    of: int = 0
    parts: tuple[FilePart, ...] = ()
    inline: bool = False
    error: str = ""


class ImagesGiven(Event, frozen=True):
    """The images among the goal's files; `refused` maps the paths of images that no model is shown to the reason."""

    images: tuple[Image, ...]
    refused: Mapping[str, str] = {}


class ResultChecked(Event, frozen=True):
    """A task's result was judged by its check; `attempt` counts from 1."""

    task: str
    attempt: int
    holds: bool
    why: str


class ToolCalled(Event, frozen=True):
    """A tool answered; `call` is the hash of the call, under which its answer is found."""

    task: str | None
    name: str
    envelope: Mapping[str, Any]
    call: Hash = ""


class FileKept(Event, frozen=True):
    """A file that a tool left in the run's artifacts: as `text`, or else as `data` in base64 (with `,` for `/`).

    The record carries the file to another machine that continues the run. Images that models are shown are kept too.
    """

    task: str | None
    path: str
    sha256: str
    text: str = ""
    data: str = ""


class ToolLogged(Event, frozen=True):
    """The output of a tool's process besides its answer, for the trace and the tool's author."""

    name: str
    log: str
    stderr: str
    exit_status: int
    seconds: float


class ToolOutput(Event, frozen=True):
    """A piece of a running program's output. It is not recorded: the whole output follows."""

    task: str | None
    name: str
    text: str


class ToolReported(Event, frozen=True):
    """A progress message or log line of a tool's server. It is not recorded."""

    task: str | None
    name: str
    text: str


class TaskFinished(Event, frozen=True, gc=False):
    """A task ended; `key` is the hash of its model's request, if other runs may reuse the output."""

    task: str
    status: TaskStatus
    seconds: float = 0.0
    output: str | None = None
    error: str | None = None
    key: Hash = ""
