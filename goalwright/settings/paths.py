"""The folders goalwright uses: the workspace, and the user's own."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalwright_skills import user_folders
from goalwright_skills.errors import InputError, SetupError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright_skills.programs.trust import SentTrust


def config_folder(env: Mapping[str, str]) -> Path:
    """The folder of the user's own configuration."""
    return (Path(env["XDG_CONFIG_HOME"]) if env.get("XDG_CONFIG_HOME") else Path.home() / ".config") / "goalwright"


@dataclass(frozen=True, slots=True)
class Paths:
    """The folders that a run reads and writes.

    A bundle from another machine has its user's skills in `skills_home`, and that user's trust in `sent_trust`.
    `skills_dir` is a folder of skills for single runs, `session_mcp` an editor's MCP configuration for a session.
    """

    workspace: Path
    user_config: Path
    cache: Path
    data: Path
    skills_home: Path | None = None
    sent_trust: SentTrust | None = None
    skills_dir: Path | None = None
    session_mcp: Mapping[str, Any] | None = field(default=None, hash=False)

    @classmethod
    def of(cls, workspace: Path, env: Mapping[str, str]) -> Paths:
        """The folders for a workspace; XDG variables are honoured on every platform."""
        if not workspace.is_dir():
            raise InputError(
                f"the workspace {workspace} is not a folder", hint="pass an existing folder with --workspace"
            )
        return cls(
            workspace=workspace.resolve(),
            user_config=config_folder(env) / "config.toml",
            cache=user_folders.cache(),
            data=user_folders.data(),
        )

    def skill_roots(self, env: Mapping[str, str]) -> dict[str, Any]:
        """The arguments of `locations` for the user's own skills: the environment and the home folder."""
        extra = {"given": self.skills_dir} if self.skills_dir is not None else {}
        if self.skills_home is None:
            return {"env": env, **extra}
        return {"env": {key: env[key] for key in env if key != "XDG_CONFIG_HOME"}, "home": self.skills_home, **extra}

    def with_skills(self, folder: str | None) -> Paths:
        """The same paths with a folder of skills, which may be relative to the workspace."""
        if folder is None:
            return self
        path = self.workspace / Path(folder).expanduser()
        if not path.is_dir():
            raise SetupError(
                f"skills_dir = {path} is not a folder", hint="name a folder with skills in it, or unset it"
            )
        return replace(self, skills_dir=path.resolve())

    @property
    def trust(self) -> Path:
        """The file with the user's trust decisions."""
        return self.data / "trust.json"

    @property
    def logins(self) -> Path:
        """The folder with the logins to MCP servers, which only the user can read."""
        return self.data / "mcp-logins"

    @property
    def user_mcp(self) -> Path:
        """The user's file of MCP servers for every workspace."""
        return self.user_config.with_name("mcp.json")

    @property
    def has_mcp(self) -> bool:
        """Whether any MCP server is configured, for the workspace or by the user."""
        return bool(self.session_mcp) or (self.workspace / ".mcp.json").is_file() or self.user_mcp.is_file()

    @property
    def agents(self) -> Path:
        """The workspace's own folder for skills, prompts and runs."""
        return self.workspace / ".agents"
