"""Models behind litellm: requests in litellm's form, its responses as replies."""

from __future__ import annotations

import asyncio
import base64
import os
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from goalwright.models.litellm import estimates, lifecycle
from goalwright.models.litellm.capabilities import Capabilities
from goalwright.models.litellm.errors import explain
from goalwright.models.litellm.prices import listed_price
from goalwright.models.litellm.prompted_tools import with_calls, without_tools
from goalwright_planner.errors import CallTimedOut, FormatRefused, ImagesRefused, ModelError, ServerFailed, ToolsRefused
from goalwright_planner.model import Message, Reply, ToolCall, Usage, without_images
from goalwright_skills.text.untrusted import join_surrogates

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright.models.litellm.capabilities import Capability
    from goalwright.models.litellm.http_limits import AnswerLimit
    from goalwright_planner.model import OnText, Request, ToolSpec
    from goalwright_skills.image_file import Image

# The name of a role's schema, for providers that require one.
_SCHEMA_NAMES = {"task": "result", "checker": "verdict"}


@dataclass(frozen=True, slots=True)
class LitellmModel:
    """A provider's model, by its litellm name; `sampling` holds its profile's parameters for each role."""

    name: str
    timeout: float = 300.0
    capabilities: Capabilities = field(default_factory=Capabilities)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    sampling: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def needs(self) -> str:
        """The package that is still to be loaded: litellm, or nothing."""
        return "" if lifecycle.is_loaded() else "litellm"

    async def load(self) -> str:
        """Import litellm."""
        await asyncio.to_thread(lifecycle.load)
        return ""

    async def complete(self, request: Request) -> Reply:
        """Answer the request; if the model refuses tools, images or a response format, retry without them."""
        key = f"{self.name} {self.parameters.get('api_base') or os.environ.get('OPENAI_API_BASE', '')}"
        capability, unseen = self.capabilities.of(key), 0
        if request.images and not await self._accepts_images(request, capability):
            request, unseen = without_images(request), len(request.images)
        while True:
            sent = request if capability.tools else without_tools(request)
            try:
                reply = await self._call(sent, capability)
            except FormatRefused:
                if request.schema is None or not capability.step_down():
                    raise
                self.capabilities.save(key)
            except ToolsRefused:
                if not (request.tools and capability.tools):
                    raise
                capability.tools = False
                self.capabilities.save(key)
            except ImagesRefused:
                if not request.images:
                    raise
                capability.refuse_images()
                self.capabilities.save(key)
                request, unseen = without_images(request), len(request.images)
            else:
                reply = msgspec.structs.replace(reply, unseen=unseen) if unseen else reply
                return reply if capability.tools or not request.tools else with_calls(reply, request)

    async def _accepts_images(self, request: Request, capability: Capability) -> bool:
        """Whether to send images: the user's override, else an earlier refusal, else litellm's list.

        A model that is not on the list gets none: some servers drop images silently.
        """
        if request.vision is not None:
            return request.vision
        if capability.images is None:
            capability.images = await asyncio.to_thread(_listed_with_vision, self.name)
        return capability.images

    async def _call(self, request: Request, capability: Capability) -> Reply:
        """Make one call; if it fails after it was sent, the error has its estimated usage and cost."""
        # The start of a run need not wait for httpx, which this module imports.
        from goalwright.models.litellm.http_limits import AnswerLimit

        limit, answer = AnswerLimit(), StreamedAnswer()
        try:
            return await self._send(request, capability, limit, answer)
        except ModelError as error:
            if limit.was_sent:
                received = answer.text or limit.received.decode("utf-8", "replace")
                error.usage = estimates.broken(request, received)
                error.cost = listed_price(lifecycle.load(), self.name).of(error.usage)
            raise

    async def _send(
        self, request: Request, capability: Capability, limit: AnswerLimit, answer: StreamedAnswer
    ) -> Reply:
        from goalwright.models.litellm.http_limits import limited

        litellm = lifecycle.load() if lifecycle.is_loaded() else await asyncio.to_thread(lifecycle.load)
        arguments = self._arguments(request, capability, litellm)
        on_text = request.on_text if capability.streams else None
        try:
            # litellm's own timeout bounds single reads only: an answer that trickles in would never end.
            with lifecycle.connections.in_use(litellm), limited(limit), lifecycle.without_log_entry(litellm):
                async with asyncio.timeout(self.timeout):
                    response = await _respond(litellm, arguments, on_text, answer)
        except ModelError:
            raise
        except TimeoutError as error:
            raise CallTimedOut(
                f"{self.name} did not answer within {self.timeout:g} s",
                hint="raise call_timeout, or try again",
                model=self.name,
            ) from error
        except Exception as error:
            if limit.exceeded:
                raise ModelError(
                    f"the answer of {self.name} was not read: {limit.exceeded}",
                    hint="check that the API base is the address of a model API, or use another model",
                    model=self.name,
                ) from error
            raise explain(error, self.name, self.parameters.get("api_base")) from error
        if on_text is not None and not answer.is_whole:
            capability.streams = False  # until the program ends: the next attempt does not stream
            raise ServerFailed(f"the answer of {self.name} broke off: its stream ended early", model=self.name)
        return self._reply(request, response, answer, litellm)

    def _arguments(self, request: Request, capability: Capability, litellm: Any) -> dict[str, Any]:
        """The arguments of litellm's `acompletion` for a request."""
        arguments: dict[str, Any] = {
            "model": self.name,
            "messages": [_wire(message, request.contents) for message in request.messages],
            "timeout": self.timeout,
            "max_retries": 0,
            "num_retries": 0,
            **self.parameters,
            **self.sampling.get(request.role, {}),
        }
        if request.max_tokens is not None:
            arguments["max_tokens"] = _most_output(request.max_tokens, arguments.get("max_tokens"), self.name, litellm)
        if request.tools:
            arguments["tools"] = [_wire_tool(tool) for tool in request.tools]
            if not request.may_call_tools:
                arguments["tool_choice"] = "none"
        if request.schema is not None and capability.format != "prompt":
            name = _SCHEMA_NAMES.get(request.role, "plan")
            arguments["response_format"] = _format(capability.format, request.schema, name)
        return arguments

    def _reply(self, request: Request, response: Any, answer: StreamedAnswer, litellm: Any) -> Reply:
        reply = _reply(response, self.name)
        reported = getattr(response, "usage", None) if answer.is_reported else None
        thoughts = getattr(response.choices[0].message, "reasoning_content", None) or ""
        written = estimates.answer_text(f"{thoughts}{reply.text}", reply.tool_calls)
        usage = estimates.completed(_usage(reported), request, written, getattr(reported, "total_tokens", 0))
        is_estimated = usage.estimated_calls > 0
        cost = listed_price(litellm, self.name).of(usage) if is_estimated else _cost(response, self.name, litellm)
        return msgspec.structs.replace(reply, usage=usage, cost=cost)


@dataclass(slots=True)
class StreamedAnswer:
    """The text of a streamed answer, whether it is complete, and whether the provider reported its usage.

    The defaults are right for an answer that is not streamed.
    """

    parts: list[str] = field(default_factory=list)
    is_whole: bool = True
    is_reported: bool = True

    @property
    def text(self) -> str:
        """All received text, thoughts and tool calls included."""
        return "".join(self.parts)

    def add(self, delta: Any) -> None:
        """Add a chunk."""
        self.parts += filter(None, (getattr(delta, "reasoning_content", None), delta.content))
        for call in getattr(delta, "tool_calls", None) or ():
            self.parts += filter(None, (call.function.name, call.function.arguments))


async def _respond(litellm: Any, arguments: dict[str, Any], on_text: OnText | None, answer: StreamedAnswer) -> Any:
    if on_text is None:
        return await litellm.acompletion(**arguments)
    stream = await litellm.acompletion(**arguments, stream=True, stream_options={"include_usage": True})
    chunks = []
    on_text("")  # tells the listener to discard the text of an earlier, broken attempt
    async for chunk in stream:
        chunks.append(chunk)
        delta = chunk.choices[0].delta if chunk.choices else None
        if delta:
            answer.add(delta)
        if delta and delta.content:
            on_text(delta.content)
    # A gateway that cannot stream sends an empty stream. One that lost its provider may end the stream early, without
    # a finish reason. Gemini sends the reason with a piece of text, and litellm then keeps it in the second attribute.
    reasons = getattr(stream, "received_finish_reason", ""), getattr(stream, "intermittent_finish_reason", None)
    answer.is_whole = bool(answer.parts) and reasons != (None, None)
    # litellm fills in missing usage with a tokenizer's count and does not mark it; its chunks are as they were sent.
    answer.is_reported = any(getattr(chunk, "usage", None) for chunk in getattr(stream, "chunks", chunks))
    return litellm.stream_chunk_builder(chunks, messages=arguments["messages"])


def _reply(response: Any, name: str) -> Reply:
    if not response or not response.choices:
        raise ModelError(
            f"{name} sent an answer without choices",
            hint="check that the API base is the address of a model API",
            model=name,
        )
    choice = response.choices[0]
    calls = tuple(
        ToolCall(call.id or f"call_{number}", call.function.name or "", join_surrogates(call.function.arguments or ""))
        for number, call in enumerate(choice.message.tool_calls or ())
    )
    return Reply(
        text=choice.message.content or "",
        tool_calls=calls,
        finish=choice.finish_reason or "stop",
        model=name,
    )


def _most_output(allowed: int, own: Any, name: str, litellm: Any) -> int:
    """The largest answer allowed by the request, the profile and the model's own limit."""
    with suppress(Exception):  # litellm raises bare exceptions for unknown models
        allowed = min(allowed, int(litellm.get_model_info(name)["max_output_tokens"]))
    return min(allowed, own) if isinstance(own, int) else allowed


def _usage(usage: Any) -> Usage:
    details = getattr(usage, "prompt_tokens_details", None)
    return Usage(
        calls=1,
        prompt_tokens=getattr(usage, "prompt_tokens", 0) or 0,
        completion_tokens=getattr(usage, "completion_tokens", 0) or 0,
        cached_tokens=getattr(details, "cached_tokens", 0) or 0,
    )


def _cost(response: Any, name: str, litellm: Any) -> float | None:
    hidden = getattr(response, "_hidden_params", {})
    if "response_cost" in hidden:  # already computed; None if the price is unknown
        return None if hidden["response_cost"] is None else float(hidden["response_cost"])
    try:
        return float(litellm.completion_cost(completion_response=response, model=name))
    except Exception:  # noqa: BLE001 - it raises bare exceptions for models without a known price
        return None


def _listed_with_vision(name: str) -> bool:
    """Whether litellm's list says that a model accepts images; for a gateway, the name behind its prefix counts."""
    litellm, parts = lifecycle.load(), name.split("/")
    return any(litellm.supports_vision("/".join(parts[start:])) for start in range(len(parts)))


def _wire(message: Message, contents: Mapping[str, bytes]) -> dict[str, Any]:
    wire: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.images:
        images = [part for image in message.images for part in _wire_image(image, contents[image.sha256])]
        wire["content"] = [{"type": "text", "text": message.content}, *images]
    if message.tool_calls:
        wire["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        wire["tool_call_id"] = message.tool_call_id
    return wire


def _wire_image(image: Image, data: bytes) -> tuple[dict[str, Any], ...]:
    """An image after its name, to which the prompt refers."""
    url = f"data:{image.type};base64,{base64.b64encode(data).decode()}"
    return {"type": "text", "text": f"{image.name}:"}, {"type": "image_url", "image_url": {"url": url}}


def _wire_tool(tool: ToolSpec) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


def _format(kind: str, schema: Mapping[str, Any], name: str) -> dict[str, Any]:
    if kind == "json_object":
        return {"type": "json_object"}
    return {"type": "json_schema", "json_schema": {"name": name, "schema": dict(schema), "strict": False}}
