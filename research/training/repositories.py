"""The public repositories that the training data come from, read from local clones."""

from __future__ import annotations

import csv
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LIST = Path(__file__).with_name("repositories.tsv")
LARGEST_FILE = 8_000_000


@dataclass(frozen=True, slots=True)
class Repository:
    """A row of the list: `owner/name`, its licence, and whether it has skills, translations or sentences."""

    name: str
    licence: str
    use: str


@dataclass(frozen=True, slots=True)
class File:
    """A text file of a repository."""

    repository: str
    path: str
    text: str


def listed(use: str) -> list[Repository]:
    """The repositories of the list that are used for something."""
    with LIST.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t"))[1:]
    return [Repository(*row) for row in rows if row[2] == use]


def git_folder(clones: Path, repository: str) -> Path | None:
    """The git folder of a clone, bare or not, below `clones/owner+name`."""
    home = clones / repository.replace("/", "+")
    candidates = (home, home / ".git", home / "repo", home / "repo" / ".git")
    return next((folder for folder in candidates if (folder / "objects").is_dir()), None)


def files(clones: Path, repository: str, wanted: Callable[[str], bool]) -> Iterator[File]:
    """The text files of a clone's newest commit whose path is wanted; links and files of other types are left out."""
    folder = git_folder(clones, repository)
    if folder is None:
        raise FileNotFoundError(f"no clone of {repository} in {clones}; `git clone --bare` it to owner+name")
    git = ["git", "-c", "safe.directory=*", "--git-dir", str(folder)]
    listing = subprocess.run([*git, "ls-tree", "-r", "-z", "HEAD"], capture_output=True, check=True).stdout
    chosen = []
    for entry in filter(None, listing.split(b"\0")):
        kind, _, path = entry.partition(b"\t")
        mode, _, identifier = kind.split()
        if mode in (b"100644", b"100755") and wanted(name := path.decode("utf-8", "replace")):
            chosen.append((identifier.decode(), name))
    with subprocess.Popen([*git, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for blob, name in chosen:
            process.stdin.write(f"{blob}\n".encode())
            process.stdin.flush()
            head = process.stdout.readline().split()
            if len(head) == 3:
                data = process.stdout.read(int(head[2]) + 1)[:-1]
                if len(data) <= LARGEST_FILE:
                    yield File(repository, name, data.decode("utf-8", "replace"))
