"""The walls around a tool's process: bubblewrap, else Landlock with seccomp, else none if told so."""

from skills.confinement.box import Box, Command, Confinement, Launch, ResourceLimits
from skills.confinement.choose import Force, choose, in_force

__all__ = ["Box", "Command", "Confinement", "Force", "Launch", "ResourceLimits", "choose", "in_force"]
