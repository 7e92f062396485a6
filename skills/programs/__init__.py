"""Executable skills: tools that run as processes, declared in a `skill.yaml`.

manifest, manifest_file, declaration   a `skill.yaml` as tools, with every problem in it
trust                                  which folders the user trusts, by content
runtimes, node, toolchain, build_cache how a program is started, and what is built once for it
environment, protocol, process         a call: its variables, its two lines of JSON, its process
executable                             a tool, ready to be called (start reading here)

May import `confinement`, `format`, `tools` and the modules at the root of `skills`.
"""
