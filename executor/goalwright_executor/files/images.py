"""The images of a run: recorded once by their hashes, and found again when a model is shown them.

An image comes with the goal, or a tool leaves or reads it. Messages refer to it by its hash; the bytes are found in
memory or in the record for each call.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goalwright_planner.events import FileKept, ImagesGiven, Warned
from goalwright_skills import image_file, safe_files, untrusted_files
from goalwright_skills.errors import GoalwrightError
from goalwright_skills.image_file import Image, UnfitImage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from goalwright_executor.capture.capture import Capture
    from goalwright_planner.events import Record
    from goalwright_skills.tools.envelope import Envelope

# Without slashes, so that nothing in it looks like a path, which would be replaced by a named root.
_ALPHABET = b"+,"


def encoded(data: bytes) -> str:
    """Encode bytes as `FileKept.data`."""
    return base64.b64encode(data, _ALPHABET).decode()


def decoded(kept: FileKept) -> bytes | None:
    """Return the recorded content; None if it is damaged. Secrets and paths in a text may have been replaced."""
    if not kept.data:
        return kept.text.encode("utf-8", "surrogatepass")
    try:
        data = base64.b64decode(kept.data, _ALPHABET, validate=True)
    except (ValueError, binascii.Error):
        return None
    return data if hashlib.sha256(data).hexdigest() == kept.sha256 else None


# Bytes of a run's images that are kept in all.
MOST_OF_A_RUN = 64 * 1024 * 1024
_LARGEST = 2**40  # bytes of a file to inspect, of which only the beginning is read
# The only tool that shows files of the workspace; images that other tools claim are untrusted.
_READ_FILE = "ReadFile"

# Finds the bytes of an image on record, by its hash.
FindImage = Callable[[str], bytes | None]


@dataclass(slots=True)
class RunImages:
    """The images of one run; `folder` has its artifacts, `given` are those attached to the goal.

    `seen` and `unseen` are hashes of images that were shown to a model, or only described to one; `kept` has the paths
    and hashes of recorded images.
    """

    record: Record
    capture: Capture
    folder: Path | None = None
    workspace: Path | None = None
    find: FindImage | None = None
    given: ImagesGiven = field(default_factory=lambda: ImagesGiven(()))
    seen: set[str] = field(default_factory=set)
    unseen: set[str] = field(default_factory=set)
    kept: set[tuple[str, str]] = field(default_factory=set)
    _contents: dict[str, bytes] = field(default_factory=dict)
    _taken: int = 0

    async def give(self, paths: Sequence[str], name: Callable[[str], str]) -> None:
        """Take the images among the attached files, and warn about those that cannot be shown."""
        self.given = await asyncio.to_thread(self._given, paths, name)
        for image in self.given.images:
            self._keep(None, image)
        if self.given.images or self.given.refused:
            self.record(self.given)
        for path, why in self.given.refused.items():
            self.record(Warned(f"{name(path)} is shown to no model: {why}"))

    def _given(self, paths: Sequence[str], name: Callable[[str], str]) -> ImagesGiven:
        images, refused = [], dict[str, str]()
        for path in paths:
            try:
                image = self._read(Path(path), name(path), path)
            except UnfitImage as error:
                refused[path] = str(error)
                continue
            if image is not None:
                images.append(image)
        return ImagesGiven(tuple(images), refused)

    def _read(self, file: Path, name: str, path: str) -> Image | None:
        """Return the image in an attached file; None if neither its content nor its name is that of an image."""
        try:
            with os.fdopen(untrusted_files.open_regular(file, _LARGEST), "rb") as opened:
                data = opened.read(image_file.MOST_BYTES + 1)
                size = os.fstat(opened.fileno()).st_size
        except OSError as error:
            if file.suffix.lower() in image_file.SUFFIXES:
                raise UnfitImage(f"it cannot be read: {error.strerror or error}") from error
            return None  # the tools that read it report the error
        if image_file.type_of(data) is None and file.suffix.lower() not in image_file.SUFFIXES:
            return None
        image_file.check_size(max(size, len(data)))
        return self._accept(data, name, path)

    def _accept(self, data: bytes, name: str, path: str) -> Image:
        image = image_file.read(data, name, path)
        if image.sha256 in self._contents:
            return image
        if self.capture.secrets.reveals(data.decode("latin-1")):
            raise UnfitImage("it has a key or a password of yours in its data; save it without metadata")
        if self._taken + len(data) > MOST_OF_A_RUN:
            raise UnfitImage(f"the images of a run may have {MOST_OF_A_RUN:,} bytes in all; give fewer")
        self._taken += len(data)
        self._contents[image.sha256] = data
        return image

    def _keep(self, task: str | None, image: Image) -> None:
        path = image.name if task is None else image.path
        if (path, image.sha256) not in self.kept:
            self.kept.add((path, image.sha256))
            self.record(FileKept(task, path, image.sha256, data=encoded(self._contents[image.sha256])))

    async def of_call(self, tool: str, task: str, envelope: Envelope) -> Envelope:
        """Return the envelope of a call with the images that it left or read, recorded."""
        artifacts = _rows(envelope.data.get("artifacts")) if tool != _READ_FILE else ()
        if not artifacts and not envelope.images:
            return envelope
        images = await asyncio.to_thread(self._of_call, tool, envelope, artifacts)
        for image in images:
            self._keep(task, image)
        return replace(envelope, images=tuple(images))

    def _of_call(self, tool: str, envelope: Envelope, artifacts: Sequence[Mapping[str, Any]]) -> list[Image]:
        images = []
        for row in artifacts:
            try:
                data = self._left(str(row.get("path")))
                if data is not None and hashlib.sha256(data).hexdigest() == row.get("sha256"):
                    images.append(self._accept(data, str(row["path"]), str(row["path"])))
            except (OSError, GoalwrightError, UnfitImage):  # left as a file for the tools that can read it
                continue
        for image in envelope.images if tool == _READ_FILE else ():
            try:
                data = untrusted_files.read(image.path, image_file.MOST_BYTES)
                if hashlib.sha256(data).hexdigest() == image.sha256:
                    images.append(self._accept(data, image.name, image.path))
            except (OSError, UnfitImage):
                continue
        return image_file.fitting(images)[0]

    def _left(self, path: str) -> bytes | None:
        """Return the bytes of a file that a tool left, if it is an image."""
        if self.folder is None or self.workspace is None:
            return None
        data = safe_files.read(self.folder / path, below=self.workspace, limit=image_file.MOST_BYTES)
        return data if data is not None and image_file.type_of(data) is not None else None

    async def contents(self, images: Iterable[Image]) -> dict[str, bytes]:
        """Return the bytes of images by hash, without those that are not found."""
        hashes = dict.fromkeys(image.sha256 for image in images)
        missing = [sha256 for sha256 in hashes if sha256 not in self._contents]
        if missing and self.find is not None:
            for sha256 in missing:
                if (data := await asyncio.to_thread(self.find, sha256)) is not None:
                    self._contents[sha256] = data
        return {sha256: self._contents[sha256] for sha256 in hashes if sha256 in self._contents}


def _rows(value: Any) -> list[Mapping[str, Any]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list | tuple) else []
