"""Packs what the goals of a batch need on other machines into one archive.

It has the skills of all folders, prompt templates, settings without secrets, and files that goals name. Packing fails
if one of them contains a secret of this machine.
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
# The folders for the user's own skills, in search order.
GLOBAL = (HOME / ".config/agents/skills", HOME / ".agents/skills", HOME / ".claude/skills")


@dataclass(frozen=True, slots=True)
class Bundle:
    """A packed bundle, identified by its hash."""

    sha256: str
    data: bytes = field(repr=False)


def pack(
    goalwright: Goalwright,
    goals: Iterable[BatchGoal] = (),
    env: Mapping[str, str] = os.environ,
    *,
    settings: Settings | None = None,
) -> Bundle:
    """Pack what other machines need to run these goals; `settings` replace those of the runtime."""
    if (own := goalwright.paths.skills_dir) is not None:
        raise BundleRefused(
            f"skills_dir is a folder on this machine, which workers on other machines cannot read: {own}",
            hint="move its skills to .agents/skills of the workspace, or run the batch on this machine alone",
        )
    registry = goalwright.workspace.skills.registry
    registry.refresh()
    packing = _Packing(goalwright)
    for row in registry.list_skills(all=True):
        if row.source != "bundled":
            packing.add_skill(row)
    packing.add_templates()
    root = Path(os.path.realpath(goalwright.paths.workspace))
    for path in dict.fromkeys(path for goal in goals for path in named_files(_text_of(goal), root)):
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


def _text_of(goal: BatchGoal) -> str:
    return goal.text if goal.plan is None else f"{goal.text}\n{json.dumps(goal.plan, ensure_ascii=False)}"


class _Packing:
    """The files so far, and the hashes of folders that this machine's user trusts."""

    def __init__(self, goalwright: Goalwright) -> None:
        self.goalwright = goalwright
        self.files: dict[PurePosixPath, BundleFile] = {}
        self.trusted: set[str] = set()
        self.has_templates = False
        self._seen: set[Path] = set()
        locations = goalwright.workspace.skills.registry.locations
        global_folders = iter(GLOBAL)
        self._targets = {
            location.path: next(global_folders) if location.source == "global" else self._in_workspace(location.path)
            for location in locations
            if location.source != "bundled"
        }

    def add_skill(self, row: Skill) -> None:
        """Add a skill or tool with its folder; of one at the top of the workspace, only the usual parts."""
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
        """Add the user's prompt templates: those of the `seed` setting, overridden by the workspace's."""
        workspace, seed = self.goalwright.paths.workspace, self.goalwright.settings.seed
        target = WORKSPACE / TEMPLATES.as_posix()
        folders = [workspace / Path(seed).expanduser()] if seed else []
        if self.goalwright.workspace.tools.trust.trusts_templates(workspace):
            folders.append(workspace / TEMPLATES)
        for folder in folders:
            self.has_templates |= bool(self._add_tree(folder, target))

    def add(self, target: PurePosixPath, path: Path) -> None:
        """Add a single file."""
        try:
            self.files[target] = BundleFile(untrusted_files.read(path), os.access(path, os.X_OK))
        except OSError as error:
            raise BundleRefused(f"{path} cannot be read: {error.strerror or error}", hint="make it readable") from error

    def _add_tree(self, folder: Path, target: PurePosixPath) -> dict[PurePosixPath, BundleFile]:
        """Add a file or all files of a folder, except those hidden from tools; links become copies."""
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
        """Return where a folder goes in the bundle."""
        locations = [path for path in self._targets if folder.is_relative_to(path)]
        location = max(locations, key=lambda path: len(path.parts))
        return self._targets[location] / folder.relative_to(location).as_posix()

    def _in_workspace(self, path: Path) -> PurePosixPath:
        return WORKSPACE / path.relative_to(self.goalwright.paths.workspace).as_posix()


def _fingerprint(files: Mapping[PurePosixPath, BundleFile]) -> str:
    """Return `goalwright_skills.programs.fingerprint.fingerprint` of these files once unpacked."""
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
                f"{path.relative_to(path.parts[0])} contains a key or password from this environment",
                hint="remove it from the file: workers take keys from their own environment",
            )


# Settings that belong to the machine that runs the goals or are sent as flags, besides those that are guarded.
_OWN = frozenset({"helper_minutes", "skills_require", *FLAGS_ONLY})


def settings_text(settings: Settings) -> str:
    """Return the changed settings as a goalwright.toml, without addresses and a machine user's own settings."""
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
    return "\n".join(["# The settings of the batch. Each machine's own settings override them.", *rows, *tables, ""])


def _refuse_addresses(name: str, value: Any) -> None:
    for model in names_in(value):
        if carries_address(model):
            raise BundleRefused(
                f"{name!r} has a model with an address, which workers accept only from their own settings: {model}",
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
    """Return a TOML string, which is a JSON string except for one character that only TOML forbids."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
