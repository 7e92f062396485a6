"""The exception that in-process tools raise; in a module of its own so that they import nothing heavy."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goalwright_skills.tools.envelope import Code


class ToolFault(Exception):
    """Raised by a function to report a failure: a code, and a message that ends with the next step."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
