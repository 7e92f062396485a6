"""A Python tool's environment: created, fetched and installed in steps of their own."""

from __future__ import annotations

import os
import platform
import re
import sys
import sysconfig
from typing import TYPE_CHECKING

from goalwright_skills.confinement.box import Command
from goalwright_skills.confinement.system_paths import interpreter
from goalwright_skills.programs import toolchain
from goalwright_skills.programs.build_cache import BuildCache, BuildError, BuildFolder, BuildStep, cache_key
from goalwright_skills.programs.builds import pip_settings, requirements
from goalwright_skills.programs.builds.verify import verify

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_skills.programs.manifest import Manifest

ONLY_WHEELS = ("--only-binary", ":all:")
QUIET = ("--quiet", "--no-cache-dir", "--disable-pip-version-check", "--no-input")
PIP = ("-I", "-m", "pip")
TAKES_PYTHON = (22, 3)
_UNREACHED = re.compile(r"Retrying|connection|timed out|resolution|proxy|SSL", re.IGNORECASE)
_MISSING = re.compile(r"No matching distribution found for (\S+)")


async def environment(manifest: Manifest, build_cache: BuildCache) -> Path | None:
    """The virtual environment with a tool's packages; None if it needs none."""
    wanted = requirements.read(manifest.folder / "requirements.txt")
    if not wanted:
        return None
    settings = pip_settings.read(build_cache.environ)
    key = cache_key("python", *wanted, sys.version, sys.base_prefix, _machine(), settings.key)
    what = f"{manifest.name}: installing its Python packages"
    async with build_cache.folder("python", key, what) as build:
        env = build.path / "env"
        if not build.ready:
            await _build(build_cache, build, wanted, settings)
            _verify(build.path, env)
    return env


async def _build(
    build_cache: BuildCache, build: BuildFolder, wanted: tuple[str, ...], settings: pip_settings.FetchSettings
) -> None:
    """Make the environment, download wheels with the network, and install them without it."""
    env, wheels, listed = build.path / "env", build.work / "wheels", build.work / "requirements.txt"
    wheels.mkdir()
    listed.write_text("\n".join(wanted) + "\n", encoding="utf-8")
    python = str(env / "bin" / "python")
    # This Python's own pip saves installing one into each environment. It runs without `site`: a .pth file may name
    # folders that the box does not show, such as goalwright's own in an editable install, and pip looks into all of them.
    own = toolchain.own_pip()
    pip: tuple[str, ...] = (python, *PIP)
    without, into = [], []
    if own is not None and own.version >= TAKES_PYTHON:
        pip = (sys.executable, "-I", "-S", str(own.folder))
        without, into = ["--without-pip"], ["--python", python]
    make = Command((sys.executable, "-I", "-m", "venv", *without, str(env)), interpreter())
    await build_cache.run_step(build, BuildStep("python -m venv", make))
    download = (*pip, "download", *QUIET, *ONLY_WHEELS, "--dest", str(wheels), "-r", str(listed))
    await _fetch(
        build_cache,
        build,
        BuildStep("pip download", Command(download, (*interpreter(), *settings.reads)), settings.env, settings.network),
    )
    local = ("--no-index", "--find-links", str(wheels), "-r", str(listed))
    install = Command((*pip, *into, "install", *QUIET, *ONLY_WHEELS, *local), interpreter())
    await build_cache.run_step(build, BuildStep("pip install", install, {"PIP_CONFIG_FILE": os.devnull}))


async def _fetch(build_cache: BuildCache, build: BuildFolder, step: BuildStep) -> None:
    """Download the wheels; a package that has none is told apart from an index that cannot be reached."""
    try:
        await build_cache.run_step(build, step)
    except BuildError as error:
        missing = _MISSING.search(error.message)
        if missing is None or _UNREACHED.search(error.message):
            raise
        what = f"{missing[1]} has no wheel on the index for this Python and machine ({error.message})"
        hint = "name a version that has one; packages that must be compiled here are not installed"
        raise BuildError(what, hint=hint) from error


def _verify(folder: Path, env: Path) -> None:
    """A wheel may also write files beside the packages: the interpreter must still be this one."""
    own, python = os.path.realpath(sys.executable), env / "bin" / "python"
    verify(folder, {own})
    if not python.is_symlink() or os.path.realpath(python) != own:
        hint = "remove the package that replaces it from the tool's requirements"
        raise BuildError(f"{python} is not this Python any more", hint=hint)


def _machine() -> str:
    """What decides which wheels fit, besides the interpreter."""
    return " ".join((sysconfig.get_platform(), *platform.libc_ver()))
