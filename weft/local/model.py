"""The embedded model behind the planner's port: fetched once, served on loopback, asked through litellm."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from planner.errors import ModelError
from planner.prompting.profile import profiles
from skills.errors import SetupError
from weft.local import catalogue
from weft.local.prompt_fit import fitted
from weft.local.server import SLOTS, Load, count_tokens, shared
from weft.local.store import ModelStore, models_dir
from weft.providers.litellm_model import LitellmModel

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from planner.model import Message, Reply, Request
    from planner.prompting.profile import Profile
    from weft.local.server import Endpoint
    from weft.local.store import Installed

# Room for what the chat template adds and for an answer, where the profile bounds neither.
_ANSWER = 700
_MARGIN = 32
# Calls take turns here rather than in the server, so that no call's time runs while it waits for others to end.
_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


def entry_name(name: str) -> str:
    """The name in the catalogue that a model's name stands for."""
    return name.partition("/")[2] or catalogue.read().default


def installed(name: str) -> Installed:
    """The model on disk, or how to get it there."""
    wanted, store = entry_name(name), ModelStore(models_dir())
    found = store.find(wanted)
    if found is not None:
        return found
    known = [entry.name for entry in catalogue.read().entries]
    if wanted not in known:
        own = [one.record.name for one in store.installed() if one.record.name not in known]
        raise SetupError(
            f"there is no local model {wanted!r}; models are: {', '.join([*own, *known])}",
            hint="`weft models list` shows them; your own comes in with `weft models pull NAME --from FILE|URL`",
        )
    raise SetupError(
        f"the local model {wanted} is not here yet",
        hint=f"fetch it with `weft models pull {wanted}`, or run again with --yes",
    )


def profile(name: str) -> Profile:
    """How the model is worked with, as its entry says."""
    found = ModelStore(models_dir()).find(entry_name(name))
    return profiles()[found.record.profile if found else "small"]


@dataclass(frozen=True, slots=True)
class LocalModel:
    """The embedded model; its server starts with the first call and is shared by all."""

    name: str
    timeout: float = 300.0
    serve: Callable[[Load], Awaitable[Endpoint]] = shared

    async def complete(self, request: Request) -> Reply:
        """Answer the request, cut to fit the context window. It costs nothing."""
        model = installed(self.name)
        endpoint = await self.serve(Load(model.path))
        manner = profiles()[model.record.profile]
        sampling = manner.sampling.get(request.role, {})
        room = endpoint.context - int(sampling.get("max_tokens", _ANSWER)) - _MARGIN
        limit = min(room, manner.prompt_tokens or room)
        messages = await asyncio.to_thread(fitted, request.messages, _counter(endpoint), limit)
        parameters = {
            "api_base": endpoint.base_url,
            "api_key": endpoint.api_key,
            "extra_body": dict(manner.server.get(request.role, {})),
            **sampling,
        }
        provider = LitellmModel(endpoint.model, self.timeout, parameters=parameters)
        try:
            async with _turns.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(SLOTS)):
                reply = await provider.complete(replace(request, messages=messages))
        except ModelError as error:
            # Whoever reads "openai/…" would think that something was sent there.
            error.message = error.message.replace(endpoint.model, self.name)
            raise
        return replace(reply, cost=0.0, model=self.name)


def _counter(endpoint: Endpoint) -> Any:
    def count(messages: Sequence[Message]) -> int:
        plain = [{"role": message.role, "content": message.content} for message in messages]
        return count_tokens(endpoint, plain)

    return count
