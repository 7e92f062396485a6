"""A chat: its conversation, its settings, and the goals that are typed."""

from __future__ import annotations

import hashlib
import re
import shlex
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright.interfaces.cli import execution
from goalwright.interfaces.cli.resume_command import resume_command, resuming
from goalwright.interfaces.cli.view import answer, output
from goalwright.runs.conversations.conversation import Conversation
from goalwright.runs.runtime import Goalwright
from goalwright_skills import safe_files
from goalwright_skills.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from goalwright.interfaces.cli.chat.page import ConversationPage
    from goalwright.interfaces.cli.view.output import OutputMode
    from goalwright.interfaces.cli.view.result_target import ResultTarget
    from goalwright.models.open import OpenModel
    from goalwright.runs.callbacks import Review
    from goalwright.runs.goal import Goal
    from goalwright.runs.stop import Stop
    from goalwright.settings.settings import Settings
    from goalwright_executor.history.result import Result
    from goalwright_planner.approvals import Approve
    from goalwright_planner.events import Record
    from goalwright_planner.plan.plan import Plan

_FILE = re.compile(r'(?<!\S)@(?:"([^"\n]+)"|(\S+))')
_RESOURCE = re.compile(r"(?<!\S)@([\w.-]+):(\S*[^\s.,;:!?)])")
_UNSAFE_NAME = re.compile(r"[^\w.-]+")
_MAX_NAME = 60


@dataclass(slots=True)
class Chat:
    """A conversation with the choices of its user; `base` holds the options of every goal.

    `planned` is a goal with a plan that has not run yet. `open_models` returns the function that opens models for given
    settings. `page` shows the conversation in a browser; None without a terminal. `target` gets the last answer.
    """

    conversation: Conversation
    mode: OutputMode
    base: Goal
    open_models: Callable[[Settings], OpenModel | None]
    page: ConversationPage | None = None
    target: ResultTarget | None = None
    planned: tuple[str, Plan] | None = None
    results: list[Result] = field(default_factory=list)
    status: int = 0

    @property
    def goalwright(self) -> Goalwright:
        """The runtime of the next turn."""
        return self.conversation.goalwright

    async def goal(self, text: str) -> Goal:
        """Return the goal in a typed text; files are looked up in the current folder, then in the workspace."""
        goal = typed_goal(text, self.base, (Path.cwd(), self.goalwright.paths.workspace))
        resources = await resource_files(text, self.goalwright)
        return replace(goal, files=tuple(dict.fromkeys((*goal.files, *resources))))

    def skill_names(self) -> list[str]:
        """Return the names of the skills that a goal can request."""
        return sorted(skill.name for skill in self.goalwright.workspace.skills.active() if skill.user_invocable)

    async def turn(
        self,
        goal: Goal,
        record: Record | None = None,
        stop: Stop | None = None,
        approve: Approve | None = None,
        review: Review | None = None,
    ) -> Result:
        """Run a goal as the next turn."""
        turn = self.conversation.turn(goal, record=record, stop=stop, approve=approve, review=review)
        return self._recorded(await turn)

    async def resume(
        self,
        record: Record | None = None,
        stop: Stop | None = None,
        approve: Approve | None = None,
        review: Review | None = None,
    ) -> Result | None:
        """Continue the last turn if it was interrupted or waits."""
        result = await self.conversation.resume(record=record, stop=stop, approve=approve, review=review)
        return self._recorded(result) if result is not None else None

    def _recorded(self, result: Result) -> Result:
        self.results.append(result)
        self.status = execution.EXIT[result.status]
        return result

    def show(self, result: Result) -> None:
        """Print the result of a turn, and write its answer to the target."""
        written = execution.write_answer(result, self.target, self.goalwright.paths.workspace)
        if written is not None and result.answer is not None and not self.mode.quiet:
            output.say(f"Answer written to {written}")
        resume = self.resume_command(result)
        if self.mode.as_json:
            output.print_json(result.to_dict(), indent=None)
            answer.show_waiting(result, resume)
        else:
            answer.show(result, None, resume, self.goalwright.paths.workspace, quiet=self.mode.quiet)

    def resume_command(self, result: Result) -> list[str]:
        """Return the arguments of the command that continues a turn."""
        goalwright = self.goalwright
        return resuming(result.run_id, goalwright.paths.workspace, result.journal, goalwright.settings, self.target)

    def use_model(self, name: str) -> None:
        """Use another model from the next turn."""
        settings = replace(self.goalwright.settings, model=name)
        self._rebuild(settings)

    def clear(self) -> None:
        """Begin another conversation."""
        self.conversation = Conversation.new(self.goalwright)
        self.planned = None
        self.results.clear()

    def _rebuild(self, settings: Settings) -> None:
        previous = self.goalwright
        goalwright = Goalwright(
            previous.paths.workspace, settings, open_model=self.open_models(settings), journal=previous.journal
        )
        self.conversation = Conversation(goalwright, self.conversation.id)

    def continue_command(self) -> str:
        """Return the command that continues this conversation."""
        goalwright = self.goalwright
        program, _, _, *where = resume_command("", goalwright.paths.workspace, goalwright.journal.url)
        return shlex.join([program, "chat", "--conversation", self.conversation.id, *where])


def typed_goal(text: str, base: Goal, folders: tuple[Path, ...]) -> Goal:
    """Return the goal in a typed text, with the options of `base`.

    `@name` adds a file if it exists in one of the folders; otherwise it stays text.
    """
    files = [file for match in _FILE.finditer(text) if (file := _typed_file(match[1] or match[2], folders)) is not None]
    return replace(base, text=text, files=tuple(dict.fromkeys((*base.files, *files))))


def _typed_file(name: str, folders: tuple[Path, ...]) -> Path | None:
    for folder in folders:
        for candidate in dict.fromkeys((name, name.rstrip(".,;:!?)"))):
            if (path := (folder / Path(candidate).expanduser())).is_file():
                return path
    return None


async def resource_files(text: str, goalwright: Goalwright) -> list[Path]:
    """Read the resources `@server:uri` in a text, and return their files; raises InputError if one cannot be read.

    The names of unknown servers stay text.
    """
    tools = goalwright.workspace.tools
    resources = dict.fromkeys(_RESOURCE.findall(text)) if tools.has_mcp else {}
    servers = {state.entry.name for state in tools.mcp.states()[0]} if resources else set()
    return [await _resource_file(goalwright, server, uri) for server, uri in resources if server in servers]


async def _resource_file(goalwright: Goalwright, server: str, uri: str) -> Path:
    agents = goalwright.paths.agents
    folder = agents / "runs" / "resources" / hashlib.sha256(f"{server}:{uri}".encode()).hexdigest()[:16]
    result = await goalwright.workspace.tools.read_resource(server, uri, folder)
    if result.error is not None:
        raise InputError(f"@{server}:{uri} cannot be read: {result.error.message}", hint="leave it out, or try again")
    stored = [result.data.get("artifact"), *(row.get("path") for row in result.data.get("files", ()))]
    if complete := next(filter(None, stored), None):
        return Path(complete)
    path = folder / (_UNSAFE_NAME.sub("-", uri.rpartition("/")[2])[:_MAX_NAME].strip(".-") or "resource")
    safe_files.write(path, result.text, below=agents.parent)
    return path
