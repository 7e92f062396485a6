"""The tools, resources and prompts that the MCP conformance suite expects of a server.

Names and texts are those of the suite. Requests go through the server of `goalwright mcp serve --http`.
"""

import base64
import json
from typing import Annotated, Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.shared.exceptions import MCPError
from mcp.types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    AudioContent,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    EmbeddedResource,
    ImageContent,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
    SamplingMessage,
    TextContent,
    TextResourceContents,
)
from pydantic import BaseModel, Field

_PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
_SOUND = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
_OF_SUITE = "A part of the conformance suite."
Server = MCPServer[Any]
Answered = str | InputRequiredResult


def add_to(server: Server) -> None:
    """Add everything that the suite calls."""
    for add in (_contents, _reports, _questions, _inputs, _rounds, _capabilities, _schemas, _resources, _prompts):
        add(server)


def _text(text: str) -> TextContent:
    return TextContent(type="text", text=text)


def _picture() -> ImageContent:
    return ImageContent(type="image", data=_PICTURE, mime_type="image/png")


def _embedded(uri: str, kind: str, text: str) -> EmbeddedResource:
    return EmbeddedResource(type="resource", resource=TextResourceContents(uri=uri, mime_type=kind, text=text))


def _user(content: Any) -> UserMessage:
    return UserMessage(role="user", content=content)


def _contents(server: Server) -> None:
    @server.tool(description=_OF_SUITE)
    def test_simple_text() -> str:
        return "This is a simple text response for testing."

    @server.tool(description=_OF_SUITE)
    def test_image_content() -> list[ImageContent]:
        return [_picture()]

    @server.tool(description=_OF_SUITE)
    def test_audio_content() -> list[AudioContent]:
        return [AudioContent(type="audio", data=_SOUND, mime_type="audio/wav")]

    @server.tool(description=_OF_SUITE)
    def test_embedded_resource() -> list[EmbeddedResource]:
        return [_embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")]

    @server.tool(description=_OF_SUITE)
    def test_multiple_content_types() -> list[TextContent | ImageContent | EmbeddedResource]:
        table = _embedded("test://mixed-content-resource", "application/json", '{"test": "data", "value": 123}')
        return [_text("Multiple content types test:"), _picture(), table]

    @server.tool(description=_OF_SUITE)
    def test_error_handling() -> str:
        raise RuntimeError("This tool intentionally returns an error for testing")


def _reports(server: Server) -> None:
    @server.tool(description=_OF_SUITE)
    async def test_tool_with_progress(ctx: Context[Any]) -> str:
        for done in (0, 50, 100):
            await ctx.report_progress(progress=done, total=100, message=f"Completed step {done} of 100")
        return "done"


class _Response(BaseModel):
    response: str = Field(description="User's response")


class _Defaults(BaseModel):
    name: str = Field(default="John Doe", description="User name")
    age: int = Field(default=30, description="User age")
    score: float = Field(default=95.5, description="User score")
    status: str = Field(default="active", json_schema_extra={"enum": ["active", "inactive", "pending"]})
    verified: bool = Field(default=True, description="Verification status")


_PRIORITIES: list[Any] = [{"const": name.lower(), "title": f"{name} Priority"} for name in ("Low", "Medium", "High")]
_KINDS: list[Any] = [
    {"const": "feature", "title": "New Feature"},
    {"const": "bug", "title": "Bug Fix"},
    {"const": "docs", "title": "Documentation"},
]
_SIZES: dict[str, Any] = {
    "enum": ["small", "medium", "large"],
    "enumNames": ["Small Size", "Medium Size", "Large Size"],
}


class _Enums(BaseModel):
    untitledSingle: str = Field(json_schema_extra={"enum": ["active", "inactive", "pending"]})  # noqa: N815
    titledSingle: str = Field(json_schema_extra={"oneOf": _PRIORITIES})  # noqa: N815
    untitledMulti: list[str] = Field(  # noqa: N815
        json_schema_extra={"items": {"type": "string", "enum": ["read", "write", "execute"]}}
    )
    titledMulti: list[str] = Field(json_schema_extra={"items": {"anyOf": _KINDS}})  # noqa: N815
    legacyEnum: str = Field(json_schema_extra=_SIZES)  # noqa: N815


def _questions(server: Server) -> None:
    async def asked(ctx: Context[Any], message: str, form: type[BaseModel]) -> str:
        result = await ctx.elicit(message=message, schema=form)
        content = result.data.model_dump_json() if result.action == "accept" else "{}"
        return f"action={result.action}, content={content}"

    @server.tool(description=_OF_SUITE)
    async def test_elicitation(message: str, ctx: Context[Any]) -> str:
        return f"User response: {await asked(ctx, message, _Response)}"

    @server.tool(description=_OF_SUITE)
    async def test_elicitation_sep1034_defaults(ctx: Context[Any]) -> str:
        return f"Elicitation completed: {await asked(ctx, 'Please provide user information', _Defaults)}"

    @server.tool(description=_OF_SUITE)
    async def test_elicitation_sep1330_enums(ctx: Context[Any]) -> str:
        return f"Elicitation completed: {await asked(ctx, 'Please select values', _Enums)}"

    @server.tool(description=_OF_SUITE)
    async def test_sampling(prompt: str, ctx: Context[Any]) -> str:
        said = await ctx.session.create_message(
            messages=[SamplingMessage(role="user", content=_text(prompt))],
            max_tokens=100,
            related_request_id=ctx.request_id,
        )
        return f"LLM response: {said.content.text if isinstance(said.content, TextContent) else ''}"


def _form(message: str, **fields: str) -> ElicitRequest:
    rows = {name: {"type": kind} for name, kind in fields.items()}
    schema = {"type": "object", "properties": rows, "required": list(rows)}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def _sample(prompt: str) -> CreateMessageRequest:
    messages = [SamplingMessage(role="user", content=_text(prompt))]
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=messages, max_tokens=100))


def _field(ctx: Context[Any], name: str, field: str) -> str | None:
    """Return the user's answer to a form, once the client has asked."""
    said = (ctx.input_responses or {}).get(name)
    return str((said.content or {}).get(field)) if isinstance(said, ElicitResult) else None


def _inputs(server: Server) -> None:
    @server.tool(description=_OF_SUITE)
    async def test_input_required_result_elicitation(ctx: Context[Any]) -> Answered:
        name = _field(ctx, "user_name", "name")
        asked = {"user_name": _form("What is your name?", name="string")}
        return f"Hello, {name}!" if name else InputRequiredResult(input_requests={**asked})

    @server.tool(description=_OF_SUITE)
    async def test_input_required_result_sampling(ctx: Context[Any]) -> Answered:
        said = (ctx.input_responses or {}).get("capital_question")
        if isinstance(said, CreateMessageResult) and isinstance(said.content, TextContent):
            return f"Model said: {said.content.text}"
        return InputRequiredResult(input_requests={"capital_question": _sample("What is the capital of France?")})

    @server.tool(description=_OF_SUITE)
    async def test_input_required_result_list_roots(ctx: Context[Any]) -> Answered:
        said = (ctx.input_responses or {}).get("client_roots")
        if isinstance(said, ListRootsResult):
            return f"Client exposed {len(said.roots)} root(s)."
        return InputRequiredResult(input_requests={"client_roots": ListRootsRequest()})

    @server.tool(description=_OF_SUITE)
    async def test_input_required_result_multiple_inputs(ctx: Context[Any]) -> Answered:
        asked = {
            "user_name": _form("What is your name?", name="string"),
            "greeting": _sample("Generate a greeting"),
            "client_roots": ListRootsRequest(),
        }
        if asked.keys() <= (ctx.input_responses or {}).keys():
            return "All inputs received."
        return InputRequiredResult(input_requests={**asked}, request_state="multiple-inputs")


def _rounds(server: Server) -> None:
    confirm = _form("Please confirm", ok="boolean")

    @server.tool(description=_OF_SUITE)
    async def test_input_required_result_request_state(ctx: Context[Any]) -> Answered:
        if "confirm" in (ctx.input_responses or {}) and ctx.request_state == "nonce":
            return "state-ok: confirmation received"
        return InputRequiredResult(input_requests={"confirm": confirm}, request_state="nonce")

    @server.tool(description=_OF_SUITE)
    async def test_input_required_result_tampered_state(ctx: Context[Any]) -> Answered:
        if ctx.request_state is not None:
            return f"state-ok: {ctx.request_state}"
        return InputRequiredResult(input_requests={"confirm": confirm}, request_state="round-1")

    @server.tool(description=_OF_SUITE)
    async def test_input_required_result_multi_round(ctx: Context[Any]) -> Answered:
        state = json.loads(ctx.request_state) if ctx.request_state else {"round": 0}
        name, colour = _field(ctx, "step1", "name"), _field(ctx, "step2", "color")
        if state["round"] == 2 and colour:
            return f"{state['name']} likes {colour}."
        if state["round"] == 1 and name:
            step = {"step2": _form("Step 2: What is your favorite color?", color="string")}
            return InputRequiredResult(input_requests={**step}, request_state=json.dumps({"round": 2, "name": name}))
        step = {"step1": _form("Step 1: What is your name?", name="string")}
        return InputRequiredResult(input_requests={**step}, request_state=json.dumps({"round": 1}))


def _capabilities(server: Server) -> None:
    @server.tool(description=_OF_SUITE)
    async def test_input_required_result_capabilities(ctx: Context[Any]) -> InputRequiredResult:
        can = ctx.client_capabilities
        asked: dict[str, Any] = {"sample": _sample("Say hello"), "ask": _form("What is your name?", name="string")}
        if can is not None and can.sampling is None:
            del asked["sample"]
        if can is not None and can.elicitation is None:
            del asked["ask"]
        return InputRequiredResult(input_requests=asked, request_state="capability-gated")

    @server.tool(description=_OF_SUITE)
    async def test_missing_capability(ctx: Context[Any]) -> str:
        can = ctx.client_capabilities
        if can is not None and can.sampling is not None:
            return "The client can sample."
        raise MCPError(
            code=MISSING_REQUIRED_CLIENT_CAPABILITY,
            message="This tool requires the client 'sampling' capability",
            data={"requiredCapabilities": {"sampling": {}}},
        )


_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def _schemas(server: Server) -> None:
    @server.tool(description=_OF_SUITE)
    def test_x_mcp_header(
        region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})] = "<none>",
    ) -> str:
        return f"region={region}"

    @server.tool(description=_OF_SUITE)
    def json_schema_2020_12_tool() -> str:
        return "json_schema_2020_12_tool"

    # The package derives schemas from signatures and has no public way to set one.
    server._tool_manager._tools["json_schema_2020_12_tool"].parameters = _SCHEMA


def _resources(server: Server) -> None:
    @server.resource("test://static-text")
    def static_text() -> str:
        return "This is the content of the static text resource."

    @server.resource("test://static-binary")
    def static_binary() -> bytes:
        return base64.b64decode(_PICTURE)

    @server.resource("test://template/{id}/data")
    def template(id: str) -> str:  # noqa: A002 - the suite's name for it
        return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


def _prompts(server: Server) -> None:
    @server.prompt(description=_OF_SUITE)
    def test_simple_prompt() -> list[UserMessage]:
        return [_user(_text("This is a simple prompt for testing."))]

    @server.prompt(description=_OF_SUITE)
    def test_prompt_with_arguments(arg1: str, arg2: str) -> list[UserMessage]:
        return [_user(_text(f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"))]

    @server.prompt(description=_OF_SUITE)
    def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:  # noqa: N803 - the suite's name
        found = _embedded(resourceUri, "text/plain", "Embedded resource content for testing.")
        return [_user(found), _user(_text("Please process the embedded resource above."))]

    @server.prompt(description=_OF_SUITE)
    def test_prompt_with_image() -> list[UserMessage]:
        return [_user(_picture()), _user(_text("Please analyze the image above."))]

    @server.prompt(description=_OF_SUITE)
    async def test_input_required_result_prompt(ctx: Context[Any]) -> list[UserMessage] | InputRequiredResult:
        text = _field(ctx, "user_context", "context")
        if text:
            return [_user(_text(f"Use the following context: {text}"))]
        asked = {"user_context": _form("What context should the prompt use?", context="string")}
        return InputRequiredResult(input_requests={**asked})
