"""Builds a Python tool's virtual environment: creates it, downloads wheels, installs them without network."""

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
from goalwright_skills.programs.builds import pip_settings
from goalwright_skills.programs.builds.verify import read_text, verify

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_skills.programs.manifest import Manifest


ONLY_WHEELS = ("--only-binary", ":all:")
QUIET = ("--quiet", "--no-cache-dir", "--disable-pip-version-check", "--no-input")
PIP = ("-I", "-m", "pip")
HAS_PYTHON_OPTION = (22, 3)
_UNREACHABLE = re.compile(r"Retrying|connection|timed out|resolution|proxy|SSL", re.IGNORECASE)
_MISSING = re.compile(r"No matching distribution found for (\S+)")


async def environment(manifest: Manifest, build_cache: BuildCache) -> Path | None:
    """Return the virtual environment with a tool's packages; None if it needs none."""
    packages = read_requirements(manifest.folder / "requirements.txt")
    if not packages:
        return None
    settings = pip_settings.read(build_cache.environ)
    key = cache_key("python", *packages, sys.version, sys.base_prefix, _machine(), settings.key)
    title = f"{manifest.name}: installing its Python packages"
    async with build_cache.folder("python", key, title) as build:
        env = build.path / "env"
        if not build.ready:
            await _build(build_cache, build, packages, settings)
            _verify(build.path, env)
    return env


async def _build(
    build_cache: BuildCache, build: BuildFolder, packages: tuple[str, ...], settings: pip_settings.FetchSettings
) -> None:
    """Create the environment, download wheels with network, and install them without."""
    env, wheels, requirements_file = build.path / "env", build.work / "wheels", build.work / "requirements.txt"
    wheels.mkdir()
    requirements_file.write_text("\n".join(packages) + "\n", encoding="utf-8")
    python = str(env / "bin" / "python")
    # This Python's own pip saves an installation into each environment. It runs without `site`: a .pth file may name
    # folders that the sandbox hides, such as goalwright's in an editable install, and pip reads all of them.
    base = toolchain.own_pip()
    pip: tuple[str, ...] = (python, *PIP)
    venv_options, install_options = [], []
    if base is not None and base.version >= HAS_PYTHON_OPTION:
        pip = (sys.executable, "-I", "-S", str(base.folder))
        venv_options, install_options = ["--without-pip"], ["--python", python]
    make = Command((sys.executable, "-I", "-m", "venv", *venv_options, str(env)), interpreter())
    await build_cache.run_step(build, BuildStep("python -m venv", make))
    download = (*pip, "download", *QUIET, *ONLY_WHEELS, "--dest", str(wheels), "-r", str(requirements_file))
    await _fetch(
        build_cache,
        build,
        BuildStep("pip download", Command(download, (*interpreter(), *settings.reads)), settings.env, settings.network),
    )
    local = ("--no-index", "--find-links", str(wheels), "-r", str(requirements_file))
    install = Command((*pip, *install_options, "install", *QUIET, *ONLY_WHEELS, *local), interpreter())
    await build_cache.run_step(build, BuildStep("pip install", install, {"PIP_CONFIG_FILE": os.devnull}))


async def _fetch(build_cache: BuildCache, build: BuildFolder, step: BuildStep) -> None:
    """Download the wheels; distinguishes a package without a wheel from an unreachable index."""
    try:
        await build_cache.run_step(build, step)
    except BuildError as error:
        missing = _MISSING.search(error.message)
        if missing is None or _UNREACHABLE.search(error.message):
            raise
        problem = f"{missing[1]} has no wheel on the index for this Python and machine ({error.message})"
        hint = "name a version that has one; packages that must be compiled here are not installed"
        raise BuildError(problem, hint=hint) from error


def _verify(folder: Path, env: Path) -> None:
    """Verify a build; a wheel can also write files outside its packages, so check that the interpreter is unchanged."""
    base, python = os.path.realpath(sys.executable), env / "bin" / "python"
    verify(folder, {base})
    if not python.is_symlink() or os.path.realpath(python) != base:
        hint = "remove the package that replaces it from the tool's requirements"
        raise BuildError(f"{python} was replaced by a package", hint=hint)


def _machine() -> str:
    """Return the platform, which decides with the interpreter which wheels fit."""
    return " ".join((sysconfig.get_platform(), *platform.libc_ver()))


_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
_VERSION = (
    r"v?(?:\d+!)?\d+(?:\.\d+)*(?:[-_.]?(?:a|b|c|rc|alpha|beta|pre|preview)[-_.]?\d*)?"
    r"(?:-\d+|[-_.]?(?:post|rev|r)[-_.]?\d*)?(?:[-_.]?dev[-_.]?\d*)?(?:\+[a-z0-9]+(?:[-_.][a-z0-9]+)*)?"
)
_SPECIFIER = rf"(?:~=|===?|!=|<=|>=|<|>)\s*{_VERSION}(?:\.\*)?"
_REQUIREMENT = re.compile(
    rf"(?P<name>{_NAME})\s*(?:\[\s*(?P<extras>{_NAME}(?:\s*,\s*{_NAME})*)\s*\])?\s*"
    rf"(?P<specifiers>{_SPECIFIER}(?:\s*,\s*{_SPECIFIER})*)?\s*(?:;(?P<marker>.*))?",
    re.IGNORECASE | re.ASCII,
)
_MARKER = re.compile(
    r"""(?:\s*(?:[()]|===?|~=|!=|<=|>=|<|>|\b(?:and|or|not|in)\b|'[\w .+*!-]*'|"[\w .+*!-]*"|
    \b(?:python_version|python_full_version|os_name|sys_platform|platform_release|platform_system|platform_version|
    platform_machine|platform_python_implementation|implementation_name|implementation_version|extra)\b))+\s*""",
    re.VERBOSE | re.ASCII,
)
_COMMENT = re.compile(r"(?:^|\s)#.*$")
# pip would treat a requirement with such an ending as a file.
_ARCHIVE = re.compile(r"\.(?:whl|zip|tar|tgz|tbz|txz|tlz|(?:tar\.)?(?:gz|bz2|xz|lzma|lz))$", re.IGNORECASE)
_REMEDY = "write only a package's name, extras and versions, such as openpyxl>=3.1 or httpx[http2]==0.28.1"


def parse_requirements(text: str, path: Path) -> tuple[str, ...]:
    """Return the normalised and sorted requirements of a text; raises BuildError at the first invalid line."""
    requirements = set()
    for number, raw in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        line = _COMMENT.sub("", raw).strip()
        if line:
            requirements.add(_requirement(line, f"{path}:{number}"))
    return tuple(sorted(requirements))


def read_requirements(path: Path) -> tuple[str, ...]:
    """Return the requirements in a file; empty if there is no such file."""
    text = read_text(path)
    return () if text is None else parse_requirements(text, path)


def _requirement(line: str, where: str) -> str:
    matched = _REQUIREMENT.fullmatch(line)
    if matched is None:
        raise BuildError(f"{where}: {line} {_fault(line)}", hint=_REMEDY)
    marker = (matched["marker"] or "").strip()
    if matched["marker"] is not None and not _MARKER.fullmatch(marker):
        hint = "write one such as `; python_version < '3.12'`, or leave it out"
        raise BuildError(f"{where}: {marker or ';'} is not a supported environment marker", hint=hint)
    extras = ",".join(sorted(_canonical(extra) for extra in (matched["extras"] or "").split(",") if extra.strip()))
    specifiers = ",".join(sorted(re.sub(r"\s", "", matched["specifiers"] or "").split(",")))
    package = _canonical(matched["name"]) + (f"[{extras}]" if extras else "") + specifiers
    if _ARCHIVE.search(package) or _ARCHIVE.search(matched["name"]):
        raise BuildError(f"{where}: {line} looks like a file, not a package on the index", hint=_REMEDY)
    return f"{package} ; {marker}" if marker else package


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def _fault(line: str) -> str:
    """Describe why a line is not a requirement."""
    if line.endswith("\\"):
        return "continues on the next line, which is not supported"
    if line.startswith("-") or re.search(r"\s--?\w", line):
        return "has a pip option; only packages may be named"
    return "is not a package on the index"
