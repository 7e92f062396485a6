"""Packs what the goals of a batch need on other machines.

skills of all folders, with what belongs to them → templates → settings without secrets → files that goals name →
refused if a secret of this machine is in any of them → one archive
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from goalwright.batch.bundle import archive
from goalwright.batch.bundle.archive import LIMITS, NAME, BundleFile, BundleManifest, BundleRefused, catalogue_of
from goalwright.settings.settings import FLAGS_ONLY, Settings
from goalwright.settings.untrusted import MODELS, TEMPLATES, names_in
from goalwright_executor.capture.secrets import Secrets
from goalwright_executor.files.named import named_files
from goalwright_executor.results.artifacts import IGNORED
from goalwright_skills import untrusted_files
from goalwright_skills.hidden_paths import PARTS, is_hidden_name
from goalwright_skills.manage.archive import ArchiveRefused, members
from goalwright_skills.text.untrusted import carries_address

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goalwright.batch.goals import BatchGoal
    from goalwright.runs.runtime import Goalwright
    from goalwright_skills.skill import Skill

WORKSPACE = PurePosixPath("workspace")
HOME = PurePosixPath("home")
# Where the user's own skills go, in the order in which they are looked for.
GLOBAL = (HOME / ".config/agents/skills", HOME / ".agents/skills", HOME / ".claude/skills")


@dataclass(frozen=True, slots=True)
class Bundle:
    """A packed bundle, known by its hash."""

    sha256: str
    data: bytes = field(repr=False)


def pack(
    goalwright: Goalwright,
    goals: Iterable[BatchGoal] = (),
    env: Mapping[str, str] = os.environ,
    *,
    settings: Settings | None = None,
) -> Bundle:
    """What other machines need to run these goals as this one would; `settings` go along instead of the runtime's."""
    if (own := goalwright.paths.skills_dir) is not None:
        raise BundleRefused(
            f"skills_dir names a folder of this machine, which workers on others would not use: {own}",
            hint="put its skills into .agents/skills of the workspace, or leave --address out",
        )
    registry = goalwright.workspace.skills.registry
    registry.refresh()
    packing = _Packing(goalwright)
    for row in registry.list_skills(all=True):
        if row.source != "bundled":
            packing.add_skill(row)
    packing.add_templates()
    root = Path(os.path.realpath(goalwright.paths.workspace))
    for path in dict.fromkeys(path for goal in goals for path in named_files(_words(goal), root)):
        packing.add(WORKSPACE / path.relative_to(root).as_posix(), path)
    manifest = BundleManifest(
        catalogue=catalogue_of(registry), trusted=sorted(packing.trusted), templates=packing.has_templates
    )
    files = packing.files | {
        WORKSPACE / "goalwright.toml": BundleFile(settings_text(settings or goalwright.settings).encode()),
        WORKSPACE / ".agents/.gitignore": BundleFile(IGNORED.encode()),
        NAME: BundleFile(manifest.to_bytes()),
    }
    _refuse_secrets(files, Secrets.of(env))
    data = archive.archive(files)
    return Bundle(archive.sha256(data), data)


def _words(goal: BatchGoal) -> str:
    return goal.text if goal.plan is None else f"{goal.text}\n{json.dumps(goal.plan, ensure_ascii=False)}"


class _Packing:
    """The files so far, and which of their folders this machine's user trusts."""

    def __init__(self, goalwright: Goalwright) -> None:
        self.goalwright = goalwright
        self.files: dict[PurePosixPath, BundleFile] = {}
        self.trusted: set[str] = set()
        self.has_templates = False
        self._seen: set[Path] = set()
        locations = goalwright.workspace.skills.registry.locations
        own = iter(GLOBAL)
        self._places = {
            location.path: next(own) if location.source == "global" else self._in_workspace(location.path)
            for location in locations
            if location.source != "bundled"
        }

    def add_skill(self, row: Skill) -> None:
        """A skill or tool with its whole folder; of one at the top of the workspace, the usual parts."""
        folder = row.base_dir
        if folder in self._seen:
            return
        self._seen.add(folder)
        below = self._below(folder)
        if folder == self.goalwright.paths.workspace or row.source == "root":
            for name in PARTS:
                self._add_tree(folder / name, below / name)
            return
        packed = self._add_tree(folder, below)
        runs = row.kind == "executable" or (folder / "scripts").is_dir()
        if runs and self.goalwright.workspace.tools.trust.is_trusted(folder, row.source):
            self.trusted.add(_fingerprint(packed))

    def add_templates(self) -> None:
        """The prompts in use besides goalwright's own: those that the settings name, then the workspace's over them."""
        workspace, seed = self.goalwright.paths.workspace, self.goalwright.settings.seed
        target = WORKSPACE / TEMPLATES.as_posix()
        folders = [workspace / Path(seed).expanduser()] if seed else []
        if self.goalwright.workspace.tools.trust.trusts_templates(workspace):
            folders.append(workspace / TEMPLATES)
        for folder in folders:
            self.has_templates |= bool(self._add_tree(folder, target))

    def add(self, target: PurePosixPath, path: Path) -> None:
        """A single file."""
        try:
            self.files[target] = BundleFile(untrusted_files.read(path), os.access(path, os.X_OK))
        except OSError as error:
            raise BundleRefused(f"{path} cannot be read: {error.strerror or error}", hint="make it readable") from error

    def _add_tree(self, folder: Path, target: PurePosixPath) -> dict[PurePosixPath, BundleFile]:
        """All files of a folder, or one file, but for what is hidden from tools; links become copies."""
        if folder.is_file():
            self.add(target, folder)
            return {}
        if not folder.is_dir():
            return {}
        added: dict[PurePosixPath, BundleFile] = {}
        try:
            with members(folder, LIMITS) as files:
                for member in files:
                    if not any(map(is_hidden_name, member.path.parts)):
                        with member.open() as reading:
                            added[member.path] = BundleFile(reading.read(), member.executable)
        except ArchiveRefused as error:
            raise BundleRefused(f"{folder} cannot be sent to workers: {error.message}", hint=error.hint) from error
        self.files |= {target / path: file for path, file in added.items()}
        return added

    def _below(self, folder: Path) -> PurePosixPath:
        """Where a folder goes in the bundle: below the place that stands for its location."""
        places = [place for place in self._places if folder.is_relative_to(place)]
        place = max(places, key=lambda path: len(path.parts))
        return self._places[place] / folder.relative_to(place).as_posix()

    def _in_workspace(self, path: Path) -> PurePosixPath:
        return WORKSPACE / path.relative_to(self.goalwright.paths.workspace).as_posix()


def _fingerprint(files: Mapping[PurePosixPath, BundleFile]) -> str:
    """What `goalwright_skills.programs.fingerprint.fingerprint` says of these files once they are unpacked."""
    digest = hashlib.sha256()
    for path in sorted(files, key=lambda path: path.parts):
        kind = "program" if files[path].executable else "file"
        content = hashlib.sha256(files[path].data).digest()
        digest.update(json.dumps([kind, path.as_posix(), ""]).encode() + b"\0" + content + b"\0")
    return digest.hexdigest()


def _refuse_secrets(files: Mapping[PurePosixPath, BundleFile], secrets: Secrets) -> None:
    for path, file in files.items():
        if secrets.reveals(file.data.decode("utf-8", "replace")) or secrets.reveals(str(path)):
            raise BundleRefused(
                f"{path.relative_to(path.parts[0])} holds a key or password of this environment",
                hint="remove it there: workers have keys in their own environment, and none travels",
            )


# Besides what no untrusted goalwright.toml may set: what belongs to the machine that runs the goals, or is sent as a flag.
_OWN = frozenset({"helper_minutes", "skills_require", *FLAGS_ONLY})


def settings_text(settings: Settings) -> str:
    """The settings that differ from their defaults, without addresses and what only a machine's own user may set."""
    rows: list[str] = []
    tables: list[str] = []
    for setting in fields(Settings):
        value = getattr(settings, setting.name)
        if value == setting.default or setting.metadata["guarded"] or setting.metadata["own"] or setting.name in _OWN:
            continue
        if setting.name in MODELS:
            _refuse_addresses(setting.name, value)
        if isinstance(value, Mapping):
            tables += [f"[{setting.name}]", *(f"{_text(key)} = {_value(item)}" for key, item in sorted(value.items()))]
        elif setting.name == "approvals":
            for rule in value:
                tables += ["[[approvals]]", *(f"{key} = {_value(item)}" for key, item in rule.to_dict().items())]
        else:
            rows.append(f"{setting.name} = {_value(value)}")
    return "\n".join(["# What the batch was started with. Each machine's own settings come first.", *rows, *tables, ""])


def _refuse_addresses(name: str, value: Any) -> None:
    for model in names_in(value):
        if carries_address(model):
            raise BundleRefused(
                f"{name!r} names a model by an address, which workers take from their own settings only: {model}",
                hint="set `model` or `api_base` in the config.toml of each worker",
            )


def _value(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case list() | tuple():
            return f"[{', '.join(map(_value, value))}]"
        case _:
            return _text(str(value))


def _text(value: str) -> str:
    """A TOML string: JSON's, with the one character that only TOML forbids."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
