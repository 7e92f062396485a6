"""What of a workspace an MCP server can load, going by what starts it: that is what trust in it covers.

A server runs in the workspace, or a folder of it, so most programs can load anything there. Only where the command
tells what it loads is it less: a script, whose folder it imports from; a package that a runner fetches; a server that
is installed elsewhere.
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
# Node looks for these beside a script and in every folder above it.
_NODE_FILES = ("package.json", "node_modules", "tsconfig.json")
_NODE_SCRIPTS = frozenset({"", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx"})
# They fetch a package by its name; these files of the workspace say from where, or bring it along.
_RUNNERS: dict[str, tuple[str, ...]] = {
    "npx": ("package.json", "package-lock.json", ".npmrc", "node_modules"),
    "bunx": ("package.json", "bun.lock", "bun.lockb", "bunfig.toml", ".npmrc", "node_modules"),
    "uvx": ("pyproject.toml", "uv.toml", ".python-version"),
    "pipx": (),
}
_CONTAINERS = frozenset({"docker", "podman", "nerdctl"})
# Servers that are installed as programs of their own.
_INSTALLED = re.compile(r"mcp-.+|.+-mcp|.+-mcp-.+|.+-mcp(?:\.exe)?")
_PYTHON_OPTIONS_WITH_VALUE = frozenset({"-W", "-X", "--check-hash-based-pycs"})
_CODE = frozenset({
    ".py", ".pyc", ".pyz", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx", ".rb", ".pl", ".php", ".lua",
    ".sh", ".bash", ".ps1", ".jar", ".so", ".dll", ".wasm", ".exe",
})  # fmt: skip
# Signs that a program loads more than lies beside it.
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
    """Paths of the workspace that a server can load, real ones; or, with `whole`, everything that is tracked there.

    `parts` are paths below the workspace of which what is tracked counts. `texts` are the paths as they are written,
    with where they lead: a link that leads elsewhere is another program.
    """

    paths: set[Path] = field(default_factory=set)
    parts: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    whole: bool = False


def coverage(launch: ServerLaunch, workspace: Path) -> Coverage:
    """What a server can load of a workspace."""
    return _Look(launch, Path(os.path.realpath(workspace))).found


class _Look:
    """One look at what starts a server."""

    def __init__(self, launch: ServerLaunch, root: Path) -> None:
        self.launch = launch
        self.root = root
        self.cwd = Path(os.path.realpath(launch.cwd))
        self.found = Coverage()
        for text in (*_words(launch.args), *_words(launch.env.values())):
            self._name(text)
        if launch.command:
            self._command()

    def _command(self) -> None:
        command = self.launch.command
        program = _program(command)
        place = self._place(command)
        if os.sep in command:
            self._name(command)
        if place is not None:
            path = Path(os.path.realpath(place))
            if place.is_relative_to(self.root):  # a program of the workspace, or a link there that leads to one
                program = _program(path.name)
                if _is_interpreter(program):
                    self._environment(place)
            if path.is_relative_to(self.root) and not _is_interpreter(program):
                self._entry(path)
                return
        if _PYTHON.fullmatch(program):
            self._script(_python_script(self.launch.args))
        elif program in _JAVASCRIPT:
            self._script(_first_plain(self.launch.args), javascript=True)
        elif program in _RUNNERS:
            self._parts(_RUNNERS[program])
        elif program in _CONTAINERS:
            self.found.whole |= "run" not in self.launch.args[:1]
        elif not _INSTALLED.fullmatch(program):
            self.found.whole = True

    def _place(self, command: str) -> Path | None:
        """Where the program, or a link to it, lies; a bare name is looked for with the entry's own PATH."""
        if os.sep in command:
            found = self.cwd / Path(command).expanduser()
        else:
            search = self.launch.env.get("PATH", os.environ.get("PATH", ""))
            places = os.pathsep.join(str(self.cwd / place) for place in search.split(os.pathsep))
            program = shutil.which(command, path=places)
            if program is None:
                return None
            found = Path(program)
        return Path(os.path.realpath(found.parent)) / found.name

    def _environment(self, place: Path) -> None:
        """What an interpreter in a folder `bin` loads from the folder above, as that of a virtual environment does."""
        above = place.parent.parent if place.parent.name in ("bin", "Scripts") else place.parent
        if above.is_relative_to(self.root) and above != self.root:
            self.found.parts.add(above.relative_to(self.root).as_posix())
        else:
            self.found.whole = True

    def _script(self, script: str | None, *, javascript: bool = False) -> None:
        """A script that an interpreter runs; without one it may load anything, as `-m` and `-c` do."""
        if script is None:
            self.found.whole = True
            return
        path = Path(os.path.realpath(self.cwd / Path(script).expanduser()))
        if not path.is_relative_to(self.root):
            return
        if javascript:
            self._parts(_NODE_FILES)
        self._entry(path)

    def _parts(self, names: Iterable[str]) -> None:
        """Files at the top that a program reads where it runs; those of another folder are not told apart."""
        if self.cwd == self.root:
            self.found.parts.update(names)
        else:
            self.found.whole = True

    def _entry(self, path: Path) -> None:
        """The folder that a program imports from; of one at the top, or that reaches further, the whole workspace."""
        folder = path if path.is_dir() else path.parent
        if path.suffix.lower() in _NODE_SCRIPTS:
            above = [one.relative_to(self.root) for one in (folder, *folder.parents) if one.is_relative_to(self.root)]
            self.found.parts.update((one / name).as_posix() for one in above for name in _NODE_FILES)
        while folder != self.root and (folder / "__init__.py").exists():
            folder = folder.parent
        if folder == self.root or not folder.is_relative_to(self.root) or _reaches_out(folder, path):
            self.found.whole = True
        self.found.paths.add(folder)

    def _name(self, text: str) -> None:
        """Something that a text names, if it lies in the workspace: of a script or a module, the folder too."""
        if not text or len(text) > 4_096 or "\0" in text:
            return
        written = self.cwd / Path(text.removeprefix("file://")).expanduser()
        real = Path(os.path.realpath(written))
        inside = written.is_relative_to(self.root) and ".." not in written.parts
        if inside and written != real and os.path.lexists(written):
            self.found.texts.add(f"{text}\0{real}")
        if not real.is_relative_to(self.root) or not real.exists():
            return
        if real == self.root:
            self.found.whole = True
        elif real.is_file() and (real.suffix.lower() in _CODE or os.access(real, os.X_OK)):
            self._entry(real)
        else:
            self.found.paths.add(real)


def _words(texts: Iterable[str]) -> Iterator[str]:
    """Every text, and every part of it that could be a path: in options, lists of folders and whole commands."""
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
    """Whether a text is a list of folders, such as PYTHONPATH: an empty one means the current folder."""
    return os.pathsep in text and "//" not in text and not re.search(r"\s", text)


def _program(command: str) -> str:
    """The name of a program, however it is called."""
    return Path(command).name.removesuffix(".exe").lower()


def _is_interpreter(program: str) -> bool:
    return bool(_PYTHON.fullmatch(program)) or program in _JAVASCRIPT


def _python_script(args: tuple[str, ...]) -> str | None:
    """The script that Python runs; None if it runs a module, a text, or what it reads."""
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
    """The first argument, unless it is an option, which may load a module or take the next argument."""
    return args[0] if args and not args[0].startswith("-") else None


def _reaches_out(folder: Path, entry: Path) -> bool:
    """Whether a program, or another in its folder, seems to load more than lies there."""
    scripts = [entry] if entry.is_file() else []
    for here, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in (".git", "__pycache__", "node_modules", ".venv")]
        scripts += [Path(here) / name for name in names if Path(name).suffix.lower() in _CODE]
        if len(scripts) > _SCRIPTS_LIMIT:
            return True
    try:
        return any(_REACHES_OUT.search(untrusted_files.read(script, _SCRIPT_BYTES)) for script in set(scripts))
    except OSError:
        return True
