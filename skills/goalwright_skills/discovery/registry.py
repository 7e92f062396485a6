"""The skills of a workspace: finds them, orders them by location, keeps them up to date and loads their bodies.

scan ──> entries ── precedence ──> rows     (or the entries of the cached index, if stat calls confirm them)
"""

from __future__ import annotations

import gc
import os
import re
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from goalwright_skills import switches
from goalwright_skills.discovery import index
from goalwright_skills.discovery.file_stamp import RACY
from goalwright_skills.discovery.locations import LIBRARY, locations
from goalwright_skills.discovery.precedence import settle, tighten
from goalwright_skills.discovery.scan import Tree, scan
from goalwright_skills.errors import BrokenSkill, UnknownSkill, UnreadableSkill
from goalwright_skills.text.formatting import counted, nearest_names

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from goalwright_skills.discovery.locations import Location
    from goalwright_skills.discovery.scan import Entry
    from goalwright_skills.skill import Problem, Skill

_ARGUMENTS = r"\$ARGUMENTS(?![A-Za-z0-9_])"
# While many goals share a registry, checks for changes take at most this share of the time, but run every second.
_CHECK_SHARE = 1 / 20
_LONGEST_PAUSE = 1.0


class Registry:
    """The skills of a workspace, read once and reread when they change.

    `env` and `home` default to those of the process. `cache` is the folder of the index that is kept between starts
    (usually `index.cache_folder`), or None for no index. The names in `off` and `without` count as disabled. `given` is
    an additional folder of skills.
    """

    def __init__(
        self,
        workspace: Path,
        *,
        env: Mapping[str, str] | None = None,
        home: Path | None = None,
        strict: bool = False,
        cache: Path | None = None,
        library: Path = LIBRARY,
        off: Collection[str] = (),
        without: Collection[str] = (),
        given: Path | None = None,
    ) -> None:
        self.workspace = workspace.absolute()
        self.cache = cache
        self._env = os.environ if env is None else env
        self._home = Path(self._env.get("HOME") or os.path.expanduser("~")) if home is None else home
        self._strict = strict
        self._library = library
        self._off = frozenset(off)
        self._without = frozenset(without)
        self._given = given
        # Tools call `refresh` from their own threads.
        self._lock = threading.RLock()
        self._tree: Tree | None = None
        self._entries: list[Entry] = []
        self._rows: list[Skill] = []
        self._active: dict[str, Skill] = {}
        self._warnings: list[Problem] = []
        self.is_shared = False
        # Incremented whenever the skills may have changed.
        self.version = 0
        self._next_check = 0.0

    def share(self) -> None:
        """Let many goals share each check for changes, which would otherwise dominate their time."""
        self.is_shared = True

    def scan(self) -> None:
        """Search all locations, reading only files that changed since the last scan or the cached one."""
        # Thousands of small objects are created and none is garbage: collection would take half of the time.
        with self._lock:
            collecting = gc.isenabled()
            gc.disable()
            try:
                self._scan()
            finally:
                if collecting:
                    gc.enable()

    @property
    def locations(self) -> tuple[Location, ...]:
        """The folders that are searched for skills, strongest first."""
        return locations(self.workspace, env=self._env, home=self._home, library=self._library, given=self._given)

    def _scan(self) -> None:
        places = self.locations
        cached = self.cache / "listing.json" if self.cache is not None else None
        if self._tree is None and cached is not None:
            last_scan = index.load(cached, places)
            if last_scan is not None:
                self._tree, self._entries = last_scan
                if self._tree.unchanged():
                    self._settle()
                    return
        from goalwright_skills.discovery.skill_file import READERS

        # A skill.yaml is reread at every change, since its tools also depend on their programs' files.
        unchanged = {
            entry.found: entry
            for entry in self._entries
            if entry.found.stamp != RACY and not entry.found.path.endswith("skill.yaml")
        }
        self._tree = scan(places, READERS.keys())
        self._entries = [
            unchanged.get(file) or READERS[os.path.basename(file.path)](file, places[file.location])
            for file in self._tree.files
        ]
        if cached is not None:
            index.save(cached, places, self._tree, self._entries)
        self._settle()

    def refresh(self) -> bool:
        """Scan again if something changed, unless SKILLS_REFRESH_ON_CALL is off; returns whether it scanned."""
        with self._lock:
            if self._tree is not None:
                if switches.is_off(self._env.get(switches.REFRESH, "")):
                    return False
                if not self._has_changed(self._tree):
                    return False
            self.scan()
            return True

    def _has_changed(self, tree: Tree) -> bool:
        began = time.monotonic()
        if self.is_shared and began < self._next_check:
            return False
        unchanged = tree.unchanged()
        ended = time.monotonic()
        self._next_check = ended + min((ended - began) / _CHECK_SHARE, _LONGEST_PAUSE)
        return not unchanged

    def list_skills(self, *, all: bool = False) -> list[Skill]:  # noqa: A002 (the flag's name on the command line)
        """Return the active skills; with `all` also the shadowed, disabled and broken skills, with the reason."""
        self._ensure()
        return list(self._rows) if all else list(self._active.values())

    def get(self, name: str) -> Skill | None:
        """Return the active skill of a name."""
        self._ensure()
        return self._active.get(name)

    def load_content(self, name: str, args: str = "") -> str:
        """Return a skill's body as a task receives it, with its folder and the arguments filled in."""
        from goalwright_skills.discovery.skill_file import read_all
        from goalwright_skills.format import frontmatter

        self.refresh()
        skill = self._active.get(name)
        if skill is None or skill.kind != "context":
            raise self._unknown(name)
        try:
            text = frontmatter.decode(read_all(skill.path))
        except OSError as error:
            message = f"skill {name!r} cannot be read: {skill.path}: {error.strerror or error}"
            denied = isinstance(error, PermissionError)
            raise UnreadableSkill(message, hint="make the file readable, then try again", denied=denied) from error
        parsed = frontmatter.parse(text, skill.path, folder=skill.base_dir.name)
        if parsed.broken is not None:
            raise BrokenSkill(f"skill {name!r} no longer parses: {parsed.broken}", hint=parsed.broken.remedy)
        return expand(parsed.body, skill.base_dir, args)

    @property
    def warnings(self) -> list[Problem]:
        """All problems in the skills, for the caller to print."""
        self._ensure()
        return list(self._warnings)

    def _ensure(self) -> None:
        if self._tree is None:
            self.scan()

    def _settle(self) -> None:
        entries = [tighten(entry) for entry in self._entries] if self._strict else self._entries
        rows, duplicates = settle(entries, self._env, self._off, self._without)
        self.version += 1
        self._rows = rows
        self._active = {skill.name: skill for skill in rows if skill.state == "active"}
        file_problems = [problem for entry in entries for problem in entry.problems]
        self._warnings = [*(self._tree.problems if self._tree else ()), *file_problems, *duplicates]

    def _unknown(self, name: str) -> UnknownSkill | BrokenSkill:
        same = next((skill for skill in self._rows if skill.name == name and skill.state != "active"), None)
        if same is not None and same.state == "broken":
            return BrokenSkill(f"skill {name!r} is broken: {same.path}: {same.reason}", hint="fix its SKILL.md")
        known = [skill.name for skill in self._active.values() if skill.kind == "context"]
        message = f"skill {name!r} is {same.reason}" if same is not None else f"there is no skill {name!r}"
        return UnknownSkill(f"{message}; known skills: {nearest_names(name, known)}", hint="use one of these names")


def expand(body: str, folder: Path, args: str = "") -> str:
    """Prefix a body with its folder and replace `$ARGUMENTS`; without a placeholder, append the arguments."""
    text, replacements = re.subn(_ARGUMENTS, lambda _: args, body)
    if not replacements and args:
        text = f"{text.rstrip()}\n\nARGUMENTS: {args}\n"
    return f"Base directory for this skill: {folder}\n\n{text}"


def summary(problems: Sequence[Problem], *, limit: int = 3, hint: str = "list all skills to see each") -> list[str]:
    """Return each of a few warnings, or one line that counts them and gives a hint."""
    if len(problems) <= limit:
        return [str(problem) for problem in problems]
    files = len({problem.path for problem in problems})
    return [f"{counted(len(problems), 'warning')} about {counted(files, 'skill file')}; {hint}"]
