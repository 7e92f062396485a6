"""Builds of what tools need, in two steps: fetch with the network and no foreign code, then install without it.

requirements                  what a requirements.txt may say, and what goalwright passes on
pip_settings, npm_settings    the user's own package indexes, mirrors and proxies, and nothing else of theirs
npm_manifest, npm_lock        what a package.json and a package-lock.json may say
python_build, npm_build, go_build   the steps of each runtime (start reading here)
verify                        what a finished build may hold

Every step runs through `BuildCache.run_step`, which puts it behind the walls. May import what `programs` may.
"""
