"""Executable skills: tools that run as processes, declared in a `skill.yaml`.

executable                            a tool, ready to be called (start reading here)
manifest, manifest_file, declaration  a `skill.yaml` as tools, with all its problems
trust, fingerprint, git_files         the folders that the user trusts, by content hash
runtimes, toolchain                   the command that starts a program
build_cache, builds/                  cached builds, made in the sandbox
environment, protocol, process        a call: its variables, its two lines of JSON, its process

May import `confinement`, `format`, `tools` and the modules at the root of `skills`.
"""
