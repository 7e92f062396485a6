"""What happens in tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from goalwright_planner.events.event import Event, Hash
from goalwright_skills.image_file import Image

TaskStatus = Literal["done", "failed", "skipped", "unneeded", "cancelled", "pending"]
# Where a result of another run comes from that was found by what its model was asked.
FROM_CACHE = "cache"


class ConditionChecked(Event, frozen=True):
    """Whether a task is needed: its condition as planned, whether it holds, and which values or reason decided it.

    With a `round`, whether its result in that round is the last one.
    """

    task: str
    condition: str | Mapping[str, Any]
    holds: bool
    why: str
    round: int | None = None


class TaskStarted(Event, frozen=True, gc=False):
    """A task started; `inputs` is the hash of what it was given."""

    task: str
    inputs: Hash = ""


class TaskReused(Event, frozen=True):
    """A task's output was taken from the parent run, from a file, or (`cache`) from another run of the same task.

    `artifacts` and `images` are the files that the task left in the parent's artifacts, as tools tell of them.
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
    """A task's prompt has a skill's instructions without these sections, or with parts of them: the model is small.

    `characters` is how much is left out.
    """

    task: str
    name: str
    left_out: tuple[str, ...]
    characters: int


class FilePart(msgspec.Struct, frozen=True):
    """A part of a file: its number, from 1, and its text."""

    number: int
    text: str


class FileRead(Event, frozen=True):
    """What a task's prompts hold of a file: these of the parts that it was divided into.

    They stand in the task's own prompt if `inline`; else they are read one by one. `sha256` is the hash of the file,
    `error` says why it could not be read.
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
    """The images among the files that came with the goal; `refused` says why others are shown to no model, by path."""

    images: tuple[Image, ...]
    refused: Mapping[str, str] = {}


class ResultChecked(Event, frozen=True):
    """A task's result was judged by its check; `attempt` counts from 1."""

    task: str
    attempt: int
    holds: bool
    why: str


class ToolCalled(Event, frozen=True):
    """A tool answered; `call` is the hash of the call, by which its answer is found."""

    task: str | None
    name: str
    envelope: Mapping[str, Any]
    call: Hash = ""


class FileKept(Event, frozen=True):
    """What a tool left in the run's artifacts: as `text`, or as `data` in base64 (with `,` for `/`) if it is none.

    It is how the file reaches another machine that continues the run. Images that models are shown are kept so too,
    wherever they come from.
    """

    task: str | None
    path: str
    sha256: str
    text: str = ""
    data: str = ""


class ToolLogged(Event, frozen=True):
    """What a tool's process wrote besides its answer, for the trace and the tool's author."""

    name: str
    log: str
    stderr: str
    exit_status: int
    seconds: float


class ToolOutput(Event, frozen=True):
    """A piece of what a program writes while it runs. It is not recorded: the whole output follows."""

    task: str | None
    name: str
    text: str


class ToolReported(Event, frozen=True):
    """What a tool's server says while it works: its progress, or a line of its log. It is not recorded."""

    task: str | None
    name: str
    text: str


class TaskFinished(Event, frozen=True, gc=False):
    """A task ended; `key` is the hash of what its model was asked, if other runs may use its output for the same."""

    task: str
    status: TaskStatus
    seconds: float = 0.0
    output: str | None = None
    error: str | None = None
    key: Hash = ""
