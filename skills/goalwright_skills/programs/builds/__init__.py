"""Builds of a tool's dependencies in two steps: fetch with network but no foreign code, then install without network.

python_build, npm_build, go_build   the steps of each runtime (start reading here)
npm_files                           validation of package.json and package-lock.json
pip_settings                        the user's package indexes, proxies and certificates
verify                              checks on a finished build

Every step runs through `BuildCache.run_step`, which confines it. May import what `programs` may.
"""
