"""The input line of a chat: history across sessions, several lines, completion of commands, files and skills."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from goalwright_skills.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import Completion
    from prompt_toolkit.document import Document
    from prompt_toolkit.key_binding import KeyBindings

_MOST_FILES = 200


def session(
    history: Path, commands: Mapping[str, str], skills: Callable[[], Sequence[str]], workspace: Path
) -> PromptSession[str]:
    """Return the prompt of a chat; raises SetupError if prompt_toolkit is not installed."""
    try:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.completion import Completer, ThreadedCompleter
        from prompt_toolkit.history import FileHistory, InMemoryHistory
    except ImportError as error:
        raise SetupError("prompt_toolkit is not installed", hint="pip install prompt-toolkit") from error

    class ChatCompleter(Completer):
        """Completes the word before the cursor."""

        def get_completions(self, document: Document, complete_event: object) -> Iterator[Completion]:
            """Complete commands at the start of the line, files after `@`, and skills after `$`."""
            return completions(document.text_before_cursor, commands, skills, workspace)

    try:
        history.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(history, os.O_CREAT | os.O_APPEND, 0o600), "a"):
            store: Any = FileHistory(str(history))
    except OSError:  # chat without history
        store = InMemoryHistory()
    return PromptSession(
        history=store,
        completer=ThreadedCompleter(ChatCompleter()),
        complete_while_typing=False,
        key_bindings=_keys(),
        multiline=True,
        erase_when_done=True,
        enable_history_search=True,
        reserve_space_for_menu=0,
    )


def completions(
    text: str, commands: Mapping[str, str], skills: Callable[[], Sequence[str]], workspace: Path
) -> Iterator[Completion]:
    """Yield the completions of the last word of a text."""
    from prompt_toolkit.completion import Completion

    word = text.split()[-1] if text and not text[-1].isspace() else ""
    if text.startswith("/") and " " not in text:
        for name, description in commands.items():
            if name.startswith(word):
                yield Completion(name, -len(word), display_meta=description)
    elif word.startswith("@"):
        for name in files_below(workspace, word[1:]):
            yield Completion(f"@{name}", -len(word))
    elif word.startswith("$"):
        for name in skills():
            if name.startswith(word[1:]):
                yield Completion(f"${name}", -len(word))


def files_below(workspace: Path, typed: str) -> list[str]:
    """Return the files and folders that begin with a typed path; hidden ones only if the dot is typed."""
    folder, _, start = typed.rpartition("/")
    try:
        entries = sorted(os.scandir(workspace / folder), key=lambda entry: entry.name)
    except OSError:
        return []
    matching = (
        entry for entry in entries if entry.name.startswith(start) and (start or not entry.name.startswith("."))
    )
    prefix = f"{folder}/" if folder or typed.startswith("/") else ""
    return [f"{prefix}{entry.name}{'/' if entry.is_dir() else ''}" for entry in matching][:_MOST_FILES]


def _keys() -> KeyBindings:
    """Bind Enter to send the input, unless it ends with a backslash, and Esc-Enter to begin a new line."""
    from prompt_toolkit.key_binding import KeyBindings

    keys = KeyBindings()

    @keys.add("enter")
    def _send(event: Any) -> None:
        buffer = event.current_buffer
        if buffer.document.text_before_cursor.endswith("\\") and buffer.document.is_cursor_at_the_end:
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        else:
            buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def _new_line(event: Any) -> None:
        event.current_buffer.insert_text("\n")

    return keys
