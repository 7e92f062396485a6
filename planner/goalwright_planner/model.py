"""The model port: requests to a language model, and its replies."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

import msgspec

from goalwright_skills.image_file import Image
from goalwright_skills.text.untrusted import join_surrogates

if TYPE_CHECKING:
    from collections.abc import Container, Iterable


Role = Literal["decomposer", "replanner", "task", "synthesis", "condition", "detector", "checker", "judge", "summary"]
Speaker = Literal["system", "user", "assistant", "tool"]

OnText = Callable[[str], None]
# Receives the number of tokens of the prompt, and the number written so far.
OnProgress = Callable[[int, int], None]

_CHARACTERS_PER_TOKEN = 4
BLIND = "You cannot see images. Not shown here:"
GONE = "Not shown here, since they are neither on this machine nor on record:"


def as_events(text: str) -> None:
    """Ask for a reply's text as events; any other callable receives the pieces, an empty one before the first."""


class ToolCall(msgspec.Struct, frozen=True):
    """A tool call requested by the model; `arguments` is the JSON text as received."""

    id: str
    name: str
    arguments: str


class Message(msgspec.Struct, frozen=True):
    """One message of a conversation; `images` follow its text."""

    role: Speaker
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    images: tuple[Image, ...] = ()


class ToolSpec(msgspec.Struct, frozen=True):
    """A tool offered to the model; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """Everything that decides a call, and the role and task that it is for; `key` is its hash if it is recorded.

    - `about` has the prompt's variables without the prompt's own words: it still finds a recorded call after rewording.
    - `max_tokens` is the length that the budget allows, and is not hashed.
    - `fixed` counts the first messages, which do not depend on the goal: a local model reads them once for all runs.
    - `contents` maps the hashes of the messages' images to their bytes.
    - `vision` is the user's setting for whether the model can see images, if there is one.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    may_call_tools: bool = True
    schema: Mapping[str, Any] | None = None
    role: Role = "task"
    task: str | None = None
    on_text: OnText | None = field(default=None, compare=False)
    key: str = field(default="", compare=False)
    about: Any = field(default=None, compare=False)
    max_tokens: int | None = field(default=None, compare=False)
    fixed: int = field(default=0, compare=False)
    on_progress: OnProgress | None = field(default=None, compare=False)
    contents: Mapping[str, bytes] = field(default_factory=dict, compare=False, repr=False)
    vision: bool | None = field(default=None, compare=False)

    @property
    def images(self) -> tuple[Image, ...]:
        """The images of all messages."""
        return tuple(image for message in self.messages for image in message.images)


class Usage(msgspec.Struct, frozen=True):
    """The tokens of one or more calls; in `estimated_calls` of them, the numbers are estimates."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    estimated_calls: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
            self.estimated_calls + other.estimated_calls,
        )

    @property
    def tokens(self) -> int:
        """Prompt and completion tokens together."""
        return self.prompt_tokens + self.completion_tokens


class Reply(msgspec.Struct, frozen=True):
    """A model's answer; `cost` is in US dollars, or None if the price is unknown.

    `left_out` counts the characters of the prompt that did not fit and were not sent, `unseen` the images that were
    replaced by a description.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage(calls=1)
    cost: float | None = None
    finish: str = "stop"
    model: str = ""
    left_out: int = 0
    unseen: int = 0

    def __post_init__(self) -> None:
        if not self.text.isascii():
            msgspec.structs.force_setattr(self, "text", join_surrogates(self.text))

    @property
    def cut_off(self) -> bool:
        """Whether the answer was truncated at the model's token limit."""
        return self.finish == "length"


def estimated_tokens(messages: Iterable[Message]) -> int:
    """Return a rough estimate of the tokens in these messages, for models without a tokenizer at hand."""
    sent = tuple(messages)
    images = sum(image_tokens(image) for message in sent for image in message.images)
    return sum(len(message.content) for message in sent) // _CHARACTERS_PER_TOKEN + images


def image_tokens(image: Image) -> int:
    """Return an estimate of an image's tokens: the largest count of OpenAI, Anthropic and Google for its size.

    OpenAI: 85, and 170 for each tile of 512 pixels after scaling to 2,048 pixels and a short side of 768.
    Anthropic: one token for 750 pixels after scaling the long side to 1,568. Google: 258 for each tile of 768 pixels.
    """
    long, short = max(image.width, image.height, 1), max(min(image.width, image.height), 1)
    scale = min(1.0, 2_048 / long, 768 / short)
    openai = 85 + 170 * math.ceil(long * scale / 512) * math.ceil(short * scale / 512)
    scale = min(1.0, 1_568 / long)
    anthropic = math.ceil(long * scale * short * scale / 750)
    google = 258 * math.ceil(long / 768) * math.ceil(short / 768)
    return max(openai, anthropic, google)


class Model(Protocol):
    """A language model. Failures are `ModelError`s."""

    @property
    def name(self) -> str:
        """The name of the model."""

    async def complete(self, request: Request) -> Reply:
        """Answer the request."""


def without_images(request: Request, why: str = BLIND, shown: Container[str] = ()) -> Request:
    """Return the request with lines in place of its images, except for images whose hashes are in `shown`."""
    messages = tuple(_described(message, why, shown) for message in request.messages)
    return replace(request, messages=messages, contents=dict(request.contents) if shown else {})


def _described(message: Message, why: str, shown: Container[str]) -> Message:
    hidden = [image for image in message.images if image.sha256 not in shown]
    if not hidden:
        return message
    kept = tuple(image for image in message.images if image.sha256 in shown)
    lines = [f"[{why}", *(f"- {image}" for image in hidden)]
    content = "\n".join([message.content, "", *lines]).lstrip("\n") + "]"
    return msgspec.structs.replace(message, content=content, images=kept)
