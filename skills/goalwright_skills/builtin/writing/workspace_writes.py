"""Whether tasks may change files of the workspace."""

from __future__ import annotations

from typing import Literal

WorkspaceWrites = Literal["deny", "ask", "allow"]
