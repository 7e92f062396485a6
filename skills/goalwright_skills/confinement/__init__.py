"""The walls around a tool's process: bubblewrap, else Landlock with seccomp, or none if the user says so.

box            what a process may do, and the interface of a confinement (start reading here)
choose         the strongest confinement that works on this machine, and what it enforces
bubblewrap     one kind, by namespaces
landlock_box   the other, by landlock (files) and seccomp (system calls, listed in syscalls); also none at all
launcher, process_gate   the program that starts a tool for landlock_box, and its count of processes
cgroup, memory           limits on a whole call: by control groups, which bind root, else by watching its memory
view, system_paths       what a tool sees of a folder with hidden names; what every program needs to see

Imports only `hidden_paths` of goalwright.
"""

from goalwright_skills.confinement.box import Box, Command, Confinement, Launch, ResourceLimits
from goalwright_skills.confinement.choose import Force, choose, in_force
from goalwright_skills.confinement.landlock_box import UNCONFINED
from goalwright_skills.confinement.view import Views

__all__ = [
    "UNCONFINED",
    "Box",
    "Command",
    "Confinement",
    "Force",
    "Launch",
    "ResourceLimits",
    "Views",
    "choose",
    "in_force",
]
