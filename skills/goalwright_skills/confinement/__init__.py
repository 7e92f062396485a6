"""The sandbox of a tool's process: bubblewrap, else Landlock with seccomp, or none if the user allows that.

box            the permissions of a process, and the interface of a confinement (start reading here)
choose         the strongest confinement that works on this machine, and a description for people
bubblewrap     confinement by namespaces, with network_bridge for a proxy
landlock_box   confinement by landlock (files) and seccomp (the system calls in syscalls); also no confinement
launcher, process_gate   start a tool for landlock_box and count its processes
cgroup, memory           limits on a whole call: by control groups, which bind root, else by watching its memory
view, system_paths       the visible part of a folder with hidden names; the system paths that every program needs

Imports only `hidden_paths` of goalwright.
"""

from goalwright_skills.confinement.box import Box, Command, Confinement, Launch, ResourceLimits
from goalwright_skills.confinement.choose import Description, choose, describe
from goalwright_skills.confinement.landlock_box import UNCONFINED
from goalwright_skills.confinement.view import Views

__all__ = [
    "UNCONFINED",
    "Box",
    "Command",
    "Confinement",
    "Description",
    "Launch",
    "ResourceLimits",
    "Views",
    "choose",
    "describe",
]
