"""`Skill`: loads a skill's instructions."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, ClassVar

from goalwright_skills.errors import BrokenSkill, SkillError, UnknownSkill, UnreadableSkill
from goalwright_skills.tools.effects import READ_ONLY, Effects
from goalwright_skills.tools.envelope import Context, Envelope, failure, time_since
from goalwright_skills.tools.parameter import string_parameter, tool_parameters

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from goalwright_skills.builtin.tool_context import ToolContext
    from goalwright_skills.discovery.registry import Registry
    from goalwright_skills.mcp.tools import McpPrompt
    from goalwright_skills.tools.envelope import Code

DEPTH = 5
RULES = """Load a skill. The result contains its instructions in <skill-loaded>.
- Load a skill that the user names (for example `$code-review` or "use the code-review skill").
- Load a skill whose description clearly matches the task at hand.
- Load a skill only when you need it, never in advance, and never twice."""


class SkillTool:
    """Loads skills for one task; `stack` names the skills that the task already follows.

    Skills in `withheld` are loaded only if the user names them, which this goal does not. `prompts` are prompts of MCP
    servers.
    """

    name = "Skill"
    parameters: ClassVar[Mapping[str, Any]] = tool_parameters(
        "name",
        name=string_parameter("The skill's name, as listed."),
        args=string_parameter("Its arguments, which replace $ARGUMENTS."),
    )

    def __init__(
        self,
        registry: Registry,
        *,
        stack: Sequence[str] = (),
        listing: str = "",
        withheld: Collection[str] = (),
        prompts: Mapping[str, McpPrompt] | None = None,
    ) -> None:
        self._registry = registry
        self._stack = tuple(stack)
        self._loaded: list[str] = []
        self._calls: set[tuple[str, str]] = set()
        self._listing = listing
        self._withheld = frozenset(withheld).difference(stack)
        self._prompts = prompts or {}

    @classmethod
    def of(cls, run: ToolContext) -> SkillTool:
        """Return the tool of one task."""
        stack = [run.follows] if run.follows else []
        return cls(run.registry, stack=stack, listing=run.listing, withheld=run.withheld, prompts=run.prompts)

    @property
    def description(self) -> str:
        """When to load skills, and the list of skills."""
        return f"{RULES}\n{self._listing}" if self._listing else RULES

    def effects(self, _arguments: Mapping[str, Any]) -> Effects:
        """Return that a call only reads."""
        return READ_ONLY

    async def call(self, arguments: Mapping[str, Any]) -> Envelope:
        """Load a skill; every error has a reason and a next step."""
        start = time.monotonic()
        name, args = arguments.get("name"), arguments.get("args") or ""
        context = Context(str(self._registry.workspace), dict(arguments))
        if not isinstance(name, str) or not name.strip():
            return failure("INVALID_PARAM", f"name must be a skill's name, not {name!r} — use a listed name", context)
        if not isinstance(args, str):
            return failure("INVALID_PARAM", f"args must be a string, not {args!r} — pass them as one string", context)
        name = name.strip()
        refusal = self._refusal(name)
        if refusal:
            return failure("INVALID_PARAM", refusal, context)
        if (name, args) in self._calls:
            return self._again(name, context)
        # Marked before the await, because two calls in one turn must not both load the skill.
        self._loaded.append(name)
        self._calls.add((name, args))
        prompt = self._prompts.get(name)
        content = await (self._from_server(prompt, args, context) if prompt else self._from_file(name, args, context))
        if isinstance(content, Envelope):
            self._loaded.remove(name)
            self._calls.discard((name, args))
            return content
        skill = self._registry.get(name)
        base = str(skill.base_dir) if skill is not None else ""
        text = f'<skill-loaded name="{name}">\n{content}\n</skill-loaded>'
        data = {"name": name, "base_dir": base, "content": content}
        return Envelope("success", text, context, data, time_ms=time_since(start))

    async def _from_file(self, name: str, args: str, context: Context) -> str | Envelope:
        import asyncio  # lazy: listing skills does not need it

        try:
            return await asyncio.to_thread(self._registry.load_content, name, args)
        except SkillError as error:
            message = f"{error.message} — {error.hint}" if error.hint else error.message
            return failure(_code(error), message, context)

    async def _from_server(self, prompt: McpPrompt, args: str, context: Context) -> str | Envelope:
        answer = await prompt.call(prompt.parse_arguments(args))
        return answer.text if answer.error is None else failure(answer.error.code, answer.error.message, context)

    def _refusal(self, name: str) -> str:
        """Return why a skill may not be loaded here; empty if it may."""
        if name in self._withheld:
            return f"skill {name!r} is used only if the user names it, and this goal does not; continue without it"
        chain = list(dict.fromkeys((*self._stack, *self._loaded)))
        if name in self._stack:
            path = " -> ".join([*chain, name])
            return f"skill {name!r} is already in use ({path}); follow its instructions instead"
        if name not in self._loaded and len(chain) >= DEPTH:
            path = " -> ".join(chain)
            return f"skills may nest {DEPTH} deep and already do ({path}); continue without {name!r}"
        return ""

    def _again(self, name: str, context: Context) -> Envelope:
        skill = self._registry.get(name)
        base = str(skill.base_dir) if skill is not None else ""
        data = {"name": name, "base_dir": base, "content": ""}
        return Envelope("success", f"Skill {name!r} is loaded already; its instructions are above.", context, data)


def _code(error: SkillError) -> Code:
    match error:
        case UnknownSkill():
            return "NOT_FOUND"
        case UnreadableSkill(denied=True):
            return "PERMISSION_DENIED"
        case BrokenSkill():
            return "INTERNAL_ERROR"
        case _:
            return "EXECUTION_ERROR"
