"""What a function that is a tool raises; a module of its own, so that such functions import nothing heavy."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skills.tools.envelope import Code


class ToolFault(Exception):
    """What a function raises to say why it could not do it: a code, and a message with the next step."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
