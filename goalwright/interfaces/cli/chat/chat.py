"""A chat: turns and commands one after the other."""

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
_LONGEST_NAME = 60


@dataclass(slots=True)
class Chat:
    """A conversation, and what the person at it has chosen; `base` is what every goal is given.

    `planned` is a goal with a plan that was made and not run yet. `open_models` makes what opens models, by settings.
    `page` shows it in a browser for as long as it lasts; None if nobody stays to look. `target` gets the last answer.
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
        """The goal in a typed text; files are looked for in the current folder first, then in the workspace."""
        here = Path.cwd()
        goal = typed_goal(text, self.base, (here, self.goalwright.paths.workspace))
        resources = await resource_files(text, self.goalwright)
        return replace(goal, files=tuple(dict.fromkeys((*goal.files, *resources))))

    def skill_names(self) -> list[str]:
        """The skills that a goal can name."""
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
        return self._kept(await turn)

    async def resume(
        self,
        record: Record | None = None,
        stop: Stop | None = None,
        approve: Approve | None = None,
        review: Review | None = None,
    ) -> Result | None:
        """Continue the last turn, if it was cut off or waits."""
        result = await self.conversation.resume(record=record, stop=stop, approve=approve, review=review)
        return self._kept(result) if result is not None else None

    def _kept(self, result: Result) -> Result:
        self.results.append(result)
        self.status = execution.EXIT[result.status]
        return result

    def show(self, result: Result) -> None:
        """Print how a turn ended, and write its answer to where `-o` says."""
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
        """The command that continues a turn by itself, as its parts."""
        goalwright = self.goalwright
        return resuming(result.run_id, goalwright.paths.workspace, result.journal, goalwright.settings, self.target)

    def use_model(self, name: str) -> None:
        """Use another model from the next turn on."""
        settings = replace(self.goalwright.settings, model=name)
        self._rebuild(settings)

    def clear(self) -> None:
        """Begin another conversation."""
        self.conversation = Conversation.new(self.goalwright)
        self.planned = None
        self.results.clear()

    def _rebuild(self, settings: Settings) -> None:
        before = self.goalwright
        goalwright = Goalwright(
            before.paths.workspace, settings, open_model=self.open_models(settings), journal=before.journal
        )
        self.conversation = Conversation(goalwright, self.conversation.id)

    def continue_command(self) -> str:
        """The command that continues this conversation."""
        goalwright = self.goalwright
        program, _, _, *where = resume_command("", goalwright.paths.workspace, goalwright.journal.url)
        return shlex.join([program, "chat", "--conversation", self.conversation.id, *where])


def typed_goal(text: str, base: Goal, folders: tuple[Path, ...]) -> Goal:
    """The goal in a typed text, with what every goal of the chat is given.

    What follows `@` is a file if there is one of that name in a folder; else it stays text.
    """
    files = [file for match in _FILE.finditer(text) if (file := _typed_file(match[1] or match[2], folders)) is not None]
    return replace(base, text=text, files=tuple(dict.fromkeys((*base.files, *files))))


def _typed_file(name: str, folders: tuple[Path, ...]) -> Path | None:
    for folder in folders:
        for spelled in dict.fromkeys((name, name.rstrip(".,;:!?)"))):
            if (path := (folder / Path(spelled).expanduser())).is_file():
                return path
    return None


async def resource_files(text: str, goalwright: Goalwright) -> list[Path]:
    """The files of the resources that a text names; raises InputError if a server does not give one.

    What names no server that is configured stays text.
    """
    tools = goalwright.workspace.tools
    found = dict.fromkeys(_RESOURCE.findall(text)) if tools.has_mcp else {}
    servers = {state.entry.name for state in tools.mcp.states()[0]} if found else set()
    return [await _resource_file(goalwright, server, uri) for server, uri in found if server in servers]


async def _resource_file(goalwright: Goalwright, server: str, uri: str) -> Path:
    agents = goalwright.paths.agents
    folder = agents / "runs" / "resources" / hashlib.sha256(f"{server}:{uri}".encode()).hexdigest()[:16]
    read = await goalwright.workspace.tools.read_resource(server, uri, folder)
    if read.error is not None:
        raise InputError(f"@{server}:{uri} cannot be read: {read.error.message}", hint="leave it out, or try it again")
    kept = [read.data.get("artifact"), *(row.get("path") for row in read.data.get("files", ()))]
    if whole := next(filter(None, kept), None):
        return Path(whole)
    path = folder / (_UNSAFE_NAME.sub("-", uri.rpartition("/")[2])[:_LONGEST_NAME].strip(".-") or "resource")
    safe_files.write(path, read.text, below=agents.parent)
    return path
