"""Executable skills: tools that run as processes, declared in a `skill.yaml`.

manifest, manifest_file, declaration   a `skill.yaml` as tools, with every problem in it
tool_names                             which names tools may have
trust, git_data                        which folders the user trusts, by content
runtimes, node, toolchain              how a program is started
build_cache, builds/                   what is built once for it, behind the walls
environment, protocol, process         a call: its variables, its two lines of JSON, its process
executable                             a tool, ready to be called (start reading here)

May import `confinement`, `format`, `tools` and the modules at the root of `skills`.
"""
