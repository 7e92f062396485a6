"""The embedded model: pulled once, served on loopback, called through litellm."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import msgspec

from goalwright.models.litellm import lifecycle
from goalwright.models.litellm.model import LitellmModel
from goalwright.models.local import catalogue
from goalwright.models.local.serving.endpoint import count_tokens
from goalwright.models.local.serving.prompt_fit import fitted
from goalwright.models.local.serving.prompt_states import PromptStates
from goalwright.models.local.serving.server import SLOTS, Load, is_loaded, shared
from goalwright.models.local.serving.slots import Slots
from goalwright.models.local.serving.time_limits import CallSize, LocalLimits
from goalwright.models.local.store import ModelStore, models_dir
from goalwright_planner.errors import ModelError, TooSlow
from goalwright_planner.model import without_images
from goalwright_planner.prompting.profile import fitting, profiles
from goalwright_skills.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from goalwright.models.local.serving.endpoint import Endpoint
    from goalwright.models.local.store import Installed
    from goalwright_planner.model import Message, OnText, Reply, Request
    from goalwright_planner.prompting.profile import Profile

# Tokens for the answer if the profile does not limit it, and for the chat template.
_ANSWER = 700
_MARGIN = 32
_REPORT_SECONDS = 1.0  # between two reports of progress
_slots: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, Slots]] = WeakKeyDictionary()


def entry_name(name: str) -> str:
    """The catalogue name of a model: NAME for `local/NAME`, the default one for `local`."""
    return name.partition("/")[2] or catalogue.read().default


def installed(name: str) -> Installed:
    """Return the installed model; raises SetupError if it is not installed."""
    entry, store = entry_name(name), ModelStore(models_dir())
    model = store.find(entry)
    if model is not None:
        return model
    listed = [entry.name for entry in catalogue.read().entries]
    if entry not in listed:
        own = [model.record.name for model in store.installed() if model.record.name not in listed]
        raise SetupError(
            f"unknown local model {entry!r}; models are: {', '.join([*own, *listed])}",
            hint="`goalwright models list` shows them; add your own with `goalwright models pull NAME --from FILE|URL`",
        )
    raise SetupError(
        f"the local model {entry} is not installed",
        hint=f"download it with `goalwright models pull {entry}`; or set a provider's API key, or choose another model "
        "(`goalwright doctor` shows the choices)",
    )


def profile(name: str) -> Profile:
    """The profile of an installed model, else the small one, adapted to the size in the model's name."""
    entry = entry_name(name)
    model = ModelStore(models_dir()).find(entry)
    return fitting(model.record.profile if model else "small", entry)


@dataclass(frozen=True, slots=True)
class LocalModel:
    """The embedded model; its server starts with the first call and is shared."""

    name: str
    limits: LocalLimits = field(default_factory=LocalLimits)
    serve: Callable[[Load], Awaitable[Endpoint]] = shared

    @property
    def needs(self) -> str:
        """The name of the model, until its server has loaded it."""
        model = ModelStore(models_dir()).find(entry_name(self.name))
        return "" if model is None or is_loaded(model.path) else f"the model {model.record.name}"

    async def load(self) -> str:
        """Start the server and load litellm; return a warning if a faster backend could run here."""
        serving = self.serve(Load(installed(self.name).path))
        endpoint, _ = await asyncio.gather(serving, asyncio.to_thread(lifecycle.load))
        return endpoint.slow

    async def complete(self, request: Request) -> Reply:
        """Answer the request, cut to fit the context window, at no cost; images are replaced by their names."""
        if unseen := len(request.images):
            return msgspec.structs.replace(await self.complete(without_images(request)), unseen=unseen)
        model = installed(self.name)
        endpoint = await self.serve(Load(model.path))
        profile = profiles()[model.record.profile]
        sampling = profile.sampling.get(request.role, {})
        answer = int(sampling.get("max_tokens", _ANSWER))
        room = endpoint.context - answer - _MARGIN
        limit = min(room, profile.prompt_tokens or room)
        counter = _TokenCounter(endpoint)
        messages = await asyncio.to_thread(fitted, request.messages, counter, limit)
        fixed = messages[: request.fixed] if messages == request.messages else ()
        read = endpoint.prompts.cached(_joined(messages), counter.tokens)
        if endpoint.states is not None:  # the fixed part is restored from an earlier run
            read = max(read, counter.tokens * _length(fixed) // max(1, _length(messages)))
        seconds = self._seconds(request, CallSize(counter.tokens, answer, read), endpoint)
        slots = _slots_of(endpoint)
        try:
            async with slots.turn(fixed) as turn:
                sent = replace(request, messages=messages, on_text=_reporting(request, counter.tokens))
                if not turn.is_read and endpoint.states is not None:
                    about = f"{model.record.sha256} {endpoint.build} {endpoint.context}"
                    async with slots.reading(fixed):
                        await PromptStates(endpoint, endpoint.states, about, seconds).take_up(turn.slot, fixed)
                parameters = {
                    "api_base": endpoint.base_url,
                    "api_key": endpoint.api_key,
                    "extra_body": {**profile.server.get(request.role, {}), "id_slot": turn.slot},
                    **sampling,
                }
                reply = await LitellmModel(endpoint.model, seconds, parameters=parameters).complete(sent)
        except ModelError as error:
            # "openai/…" would look as if the request had been sent there.
            error.message = error.message.replace(endpoint.model, self.name)
            raise
        endpoint.prompts.texts.append(_joined(messages))
        left_out = _length(request.messages) - _length(messages)
        return msgspec.structs.replace(reply, cost=0.0, model=self.name, left_out=max(0, left_out))

    def _seconds(self, request: Request, size: CallSize, endpoint: Endpoint) -> float:
        """The time limit of a call; raises TooSlow if this machine cannot meet it."""
        try:
            return self.limits.for_call(size, request.role, endpoint.speed, SLOTS)
        except TooSlow as error:
            error.message = f"{self.name}: {error.message}"
            raise


def _slots_of(endpoint: Endpoint) -> Slots:
    """The slots of a server for the calls of this event loop."""
    servers = _slots.setdefault(asyncio.get_running_loop(), {})
    return servers.setdefault(endpoint.base_url, Slots(SLOTS))


@dataclass(slots=True)
class _TokenCounter:
    """Counts the tokens of messages, and remembers the last count."""

    endpoint: Endpoint
    tokens: int = 0

    def __call__(self, messages: Sequence[Message]) -> int:
        plain = [{"role": message.role, "content": message.content} for message in messages]
        self.tokens = count_tokens(self.endpoint, plain)
        return self.tokens


def _reporting(request: Request, prompt: int) -> OnText | None:
    """A callback for the text of an answer, one token at a time, that also reports progress."""
    on_progress, on_text = request.on_progress, request.on_text
    if on_progress is None:
        return on_text
    written, last = 0, time.monotonic()
    on_progress(prompt, 0)

    def report(text: str) -> None:
        nonlocal written, last
        if on_text is not None:
            on_text(text)
        written = written + 1 if text else 0
        if time.monotonic() - last >= _REPORT_SECONDS:
            last = time.monotonic()
            on_progress(prompt, written)

    return report


def _length(messages: Iterable[Message]) -> int:
    return sum(len(message.content) for message in messages)


def _joined(messages: Iterable[Message]) -> str:
    return "\n".join(message.content for message in messages)
