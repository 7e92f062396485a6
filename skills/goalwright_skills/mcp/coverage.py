"""The files of a workspace that an MCP server can load, judged by its command; trust in the server covers them.

A server runs in the workspace or one of its folders, so most programs can load anything there. The command narrows this
for a script, which imports from its folder, a package that a runner fetches, and a server that is installed elsewhere.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright_skills import untrusted_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from goalwright_skills.mcp.entry import ServerLaunch

_PYTHON = re.compile(r"(?:python|pypy)[\d.]*w?")
_JAVASCRIPT = frozenset({"node", "nodejs", "tsx", "ts-node"})
# Node reads these beside a script and in every folder above it.
_NODE_FILES = ("package.json", "node_modules", "tsconfig.json")
_NODE_SCRIPTS = frozenset({"", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx"})
# Programs that fetch a package by name, and the workspace files that configure or contain it.
_RUNNERS: dict[str, tuple[str, ...]] = {
    "npx": ("package.json", "package-lock.json", ".npmrc", "node_modules"),
    "bunx": ("package.json", "bun.lock", "bun.lockb", "bunfig.toml", ".npmrc", "node_modules"),
    "uvx": ("pyproject.toml", "uv.toml", ".python-version"),
    "pipx": (),
}
_CONTAINERS = frozenset({"docker", "podman", "nerdctl"})
# Servers that are installed as programs.
_INSTALLED = re.compile(r"mcp-.+|.+-mcp|.+-mcp-.+|.+-mcp(?:\.exe)?")
_PYTHON_OPTIONS_WITH_VALUE = frozenset({"-W", "-X", "--check-hash-based-pycs"})
_CODE = frozenset({
    ".py", ".pyc", ".pyz", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx", ".rb", ".pl", ".php", ".lua",
    ".sh", ".bash", ".ps1", ".jar", ".so", ".dll", ".wasm", ".exe",
})  # fmt: skip
# Signs that a program loads more than its own folder.
_REACHES_OUT = re.compile(
    rb"sys\.path|\.\.[/\"'\\]|\bparents?\b|__file__|__dirname|import\.meta|runpy|importlib|__import__|\bexec|\beval\b"
    rb"|subprocess|child_process|os\.(?:system|exec|spawn|popen|chdir|getcwd)|getcwd|\bcwd\b|process\.chdir|Deno\.|Bun\."
    rb"|createRequire|dlopen|ctypes|cffi"
)
_SCRIPTS_LIMIT = 500
_SCRIPT_BYTES = 1_000_000
_SPLIT = re.compile(r"[\s:;,=\"'()]+")


@dataclass(slots=True)
class Coverage:
    """The real paths in the workspace that a server can load; with `whole`, all tracked files.

    `parts` are paths below the workspace whose tracked files count. `texts` are links as they are written, with their
    targets, because a link to another target is another program.
    """

    paths: set[Path] = field(default_factory=set)
    parts: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    whole: bool = False


def coverage(launch: ServerLaunch, workspace: Path) -> Coverage:
    """Return the files of a workspace that a server can load."""
    return _Analysis(launch, Path(os.path.realpath(workspace))).coverage


class _Analysis:
    """The analysis of one server's command, arguments and environment."""

    def __init__(self, launch: ServerLaunch, root: Path) -> None:
        self.launch = launch
        self.root = root
        self.cwd = Path(os.path.realpath(launch.cwd))
        self.coverage = Coverage()
        for text in (*_words(launch.args), *_words(launch.env.values())):
            self._add_path(text)
        if launch.command:
            self._add_command()

    def _add_command(self) -> None:
        command = self.launch.command
        program = _program(command)
        location = self._location(command)
        if os.sep in command:
            self._add_path(command)
        if location is not None:
            path = Path(os.path.realpath(location))
            if location.is_relative_to(self.root):  # a program in the workspace, or a link there to one
                program = _program(path.name)
                if _is_interpreter(program):
                    self._add_environment(location)
            if path.is_relative_to(self.root) and not _is_interpreter(program):
                self._add_program(path)
                return
        if _PYTHON.fullmatch(program):
            self._add_script(_python_script(self.launch.args))
        elif program in _JAVASCRIPT:
            self._add_script(_first_plain(self.launch.args), javascript=True)
        elif program in _RUNNERS:
            self._add_parts(_RUNNERS[program])
        elif program in _CONTAINERS:
            self.coverage.whole |= "run" not in self.launch.args[:1]
        elif not _INSTALLED.fullmatch(program):
            self.coverage.whole = True

    def _location(self, command: str) -> Path | None:
        """Return the path of the program, or of a link to it; a bare name is searched in the entry's own PATH."""
        if os.sep in command:
            path = self.cwd / Path(command).expanduser()
        else:
            search = self.launch.env.get("PATH", os.environ.get("PATH", ""))
            folders = os.pathsep.join(str(self.cwd / folder) for folder in search.split(os.pathsep))
            program = shutil.which(command, path=folders)
            if program is None:
                return None
            path = Path(program)
        return Path(os.path.realpath(path.parent)) / path.name

    def _add_environment(self, interpreter: Path) -> None:
        """Add the virtual environment of an interpreter in its folder `bin`."""
        folder = interpreter.parent
        prefix = folder.parent if folder.name in ("bin", "Scripts") else folder
        if prefix.is_relative_to(self.root) and prefix != self.root:
            self.coverage.parts.add(prefix.relative_to(self.root).as_posix())
        else:
            self.coverage.whole = True

    def _add_script(self, script: str | None, *, javascript: bool = False) -> None:
        """Add the script of an interpreter; without one, as with `-m` and `-c`, it may load anything."""
        if script is None:
            self.coverage.whole = True
            return
        path = Path(os.path.realpath(self.cwd / Path(script).expanduser()))
        if not path.is_relative_to(self.root):
            return
        if javascript:
            self._add_parts(_NODE_FILES)
        self._add_program(path)

    def _add_parts(self, names: Iterable[str]) -> None:
        """Add files that a program reads in its working folder; in a folder other than the top it may read anything."""
        if self.cwd == self.root:
            self.coverage.parts.update(names)
        else:
            self.coverage.whole = True

    def _add_program(self, path: Path) -> None:
        """Add the folder that a program imports from; the whole workspace if it lies at the top or loads more."""
        folder = path if path.is_dir() else path.parent
        if path.suffix.lower() in _NODE_SCRIPTS:
            parents = (path for path in (folder, *folder.parents) if path.is_relative_to(self.root))
            above = [path.relative_to(self.root) for path in parents]
            self.coverage.parts.update((path / name).as_posix() for path in above for name in _NODE_FILES)
        while folder != self.root and (folder / "__init__.py").exists():
            folder = folder.parent
        if folder == self.root or not folder.is_relative_to(self.root) or _reaches_out(folder, path):
            self.coverage.whole = True
        self.coverage.paths.add(folder)

    def _add_path(self, text: str) -> None:
        """Add the file or folder that a text names, if it is in the workspace; for a script also its folder."""
        if not text or len(text) > 4_096 or "\0" in text:
            return
        written = self.cwd / Path(text.removeprefix("file://")).expanduser()
        real = Path(os.path.realpath(written))
        inside = written.is_relative_to(self.root) and ".." not in written.parts
        if inside and written != real and os.path.lexists(written):
            self.coverage.texts.add(f"{text}\0{real}")
        if not real.is_relative_to(self.root) or not real.exists():
            return
        if real == self.root:
            self.coverage.whole = True
        elif real.is_file() and (real.suffix.lower() in _CODE or os.access(real, os.X_OK)):
            self._add_program(real)
        else:
            self.coverage.paths.add(real)


def _words(texts: Iterable[str]) -> Iterator[str]:
    """Yield every text and every part of it that could be a path: in options, lists of folders and commands."""
    for text in texts:
        yield text
        parts = _SPLIT.split(text)
        if len(parts) > 1:
            yield from (part or "." for part in parts if part or _is_folder_list(text))
        for part in parts:
            if re.fullmatch(r"[A-Za-z_][\w.]*", part):  # `-m package.module` and `module:app`
                yield part.replace(".", "/")
                yield part.replace(".", "/") + ".py"
            if part.startswith("-") and len(part) > 2 and not part.startswith("--"):
                yield part[2:]  # `-Ilib`
            if part.startswith("@"):
                yield part[1:]  # a file with more arguments


def _is_folder_list(text: str) -> bool:
    """Whether a text is a list of folders, such as PYTHONPATH, in which an empty item is the current folder."""
    return os.pathsep in text and "//" not in text and not re.search(r"\s", text)


def _program(command: str) -> str:
    """Return the name of a program without its folder and `.exe`."""
    return Path(command).name.removesuffix(".exe").lower()


def _is_interpreter(program: str) -> bool:
    return bool(_PYTHON.fullmatch(program)) or program in _JAVASCRIPT


def _python_script(args: tuple[str, ...]) -> str | None:
    """Return the script that Python runs; None for a module, `-c` or standard input."""
    options = iter(args)
    for option in options:
        if option in _PYTHON_OPTIONS_WITH_VALUE:
            next(options, None)
        elif option == "-" or (option.startswith("-") and not option.startswith("--") and {"m", "c"} & set(option[1:])):
            return None
        elif not option.startswith("-"):
            return option
    return None


def _first_plain(args: tuple[str, ...]) -> str | None:
    """Return the first argument; None if it is an option, which may load a module or take the next argument."""
    return args[0] if args and not args[0].startswith("-") else None


def _reaches_out(folder: Path, entry: Path) -> bool:
    """Whether a program, or another one in its folder, may load files outside that folder."""
    scripts = [entry] if entry.is_file() else []
    for path, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in (".git", "__pycache__", "node_modules", ".venv")]
        scripts += [Path(path) / name for name in names if Path(name).suffix.lower() in _CODE]
        if len(scripts) > _SCRIPTS_LIMIT:
            return True
    try:
        return any(_REACHES_OUT.search(untrusted_files.read(script, _SCRIPT_BYTES)) for script in set(scripts))
    except OSError:
        return True
