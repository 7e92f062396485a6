"""Fetches skills from a git repository: a shallow fetch, read from the objects, never checked out.

The repository is untrusted: none of its hooks, filters, submodules or settings take effect, git never asks for a
password, and the user's own configuration is used only for credentials and proxies.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import re
import resource
import signal
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from goalwright_skills.errors import InputError
from goalwright_skills.manage.archive import ArchiveLimits, ArchiveRefused, safe_path
from goalwright_skills.programs import toolchain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_REMOTE = re.compile(r"(?:https|ssh)://|[\w.-]+@[\w.-]+:(?!//)", re.IGNORECASE)
_LOCAL = re.compile(r"file://", re.IGNORECASE)
_ANY = re.compile(r"[a-z][a-z0-9+.-]*://|[\w.-]+@[\w.-]+:", re.IGNORECASE)
_WEB_LOGIN = re.compile(r"(?<=^https://)[^/]*@", re.IGNORECASE)
_PASSWORD = re.compile(r"(?<=//)(?P<user>[^/:@]*):[^/]*(?=@)")
_TIMEOUT = 120
_LARGEST = 512 * 1024 * 1024
_LARGEST_LISTING = 32 * 1024 * 1024
_LARGEST_ERROR = 16 * 1024
_UNINFORMATIVE = ("Cloning into", "warning:", "hint:", "remote:")
_VARIABLES = ("PATH", "HOME", "USER", "LANG", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO")
_PROXIES = re.compile(r"(?:https?|all|no)_proxy", re.IGNORECASE)
# The settings of the user that are used.
_SETTINGS = r"^(credential\..*|http\.(.*\.)?(proxy|sslcainfo|sslverify|extraheader))$"
_TREE = re.compile(rb"(\d{6}) (\w+) ([0-9a-f]+) +(-|\d+)\t(.*)", re.DOTALL)
# No hooks, file watchers, remote helpers or background work, and no waiting for a silent server.
_FIXED = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "protocol.ext.allow=never",
    "gc.auto=0",
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=60",
)
_LINK, _FILE, _PROGRAM = "120000", "100644", "100755"


class UnsupportedAddress(InputError):
    """goalwright does not fetch from this address; `allow_local` tells whether local addresses were allowed."""

    def __init__(self, message: str, *, hint: str = "", allow_local: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.allow_local = allow_local


@dataclass(frozen=True, slots=True)
class GitUrl:
    """A repository's address, and the folder in it if one is named."""

    url: str
    path: PurePosixPath | None = None

    @classmethod
    def parse(cls, text: str, *, local: bool = False) -> GitUrl | None:
        """Parse `URL#path`; returns None if the text is not an address, and raises for unsupported addresses."""
        url, _, path = text.partition("#")
        if not _ANY.match(url) and not (local and (Path(url) / ".git").exists()):
            return None
        allowed = _REMOTE.match(url) or (local and (_LOCAL.match(url) or not _ANY.match(url)))
        if not allowed or url.startswith("-"):
            message = f"goalwright does not fetch from {url}"
            raise UnsupportedAddress(message, hint="use an https or ssh address", allow_local=local)
        return cls(url, _folder(path) if path else None)

    @property
    def kept(self) -> str:
        """The address without a password or a token in place of the user, for files that others can read."""
        return _PASSWORD.sub(r"\g<user>", _WEB_LOGIN.sub("", self.url))


def _folder(path: str) -> PurePosixPath:
    try:
        return safe_path(path)
    except ArchiveRefused as error:
        raise InputError(f"#{path} leads outside the repository", hint="name a folder in it") from error


@contextlib.contextmanager
def fetched(
    source: GitUrl, *, local: bool = False, environ: Mapping[str, str] = os.environ
) -> Iterator[tuple[Path, str]]:
    """Fetch the repository's newest commit; yields its files as an archive, and the commit."""
    git = toolchain.find("git", "install git, or download the repository and import its folder")
    with tempfile.TemporaryDirectory(prefix="goalwright-git-") as name:
        folder = Path(name)
        run = _Git(git, folder / "repository", _environment(environ, folder, local=local))
        run("init", "--bare", "--quiet", str(run.repository), cwd=folder)
        settings = [part for setting in _user_settings(git, environ) for part in ("-c", setting)]
        run(
            *settings, "fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--", source.url, "HEAD"
        )
        commit = run("rev-parse", "FETCH_HEAD").decode().strip()
        packed = folder / "files.tar"
        _pack(run, commit, source, packed)
        yield packed, commit


@dataclass(frozen=True, slots=True)
class _Git:
    """Runs git in an isolated repository.

    Its output goes to files whose size the system limits, and its child processes are killed when it ends.
    """

    program: str
    repository: Path
    env: Mapping[str, str]

    def __call__(self, *arguments: str, cwd: Path | None = None, given: bytes = b"", most: int = _LARGEST) -> bytes:
        fixed = [part for setting in _FIXED for part in ("-c", setting)]
        with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
            stdin.write(given)
            stdin.seek(0)
            process = subprocess.Popen(
                [self.program, *fixed, *arguments],
                cwd=cwd or self.repository,
                env=dict(self.env),
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
                preexec_fn=functools.partial(_bound, most),
            )
            try:
                status = process.wait(_TIMEOUT)
            except subprocess.TimeoutExpired as error:
                raise InputError(
                    f"git {arguments[0]} took longer than {_TIMEOUT} s", hint="try again, or name a smaller repository"
                ) from error
            finally:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)  # its children, too
                process.wait()
            if status == -signal.SIGXFSZ:
                message = f"git {arguments[0]} wrote more than {most // 1024**2} MB"
                raise ArchiveRefused(message, hint="name a folder in the repository with #path")
            stderr.seek(0)
            stdout.seek(0)
            if status:
                reason = _reason(stderr.read(_LARGEST_ERROR).decode(errors="replace")) or f"exit status {status}"
                hint = "check the address, the network and your access to it"
                raise InputError(f"git cannot fetch it: {reason}", hint=hint)
            return stdout.read()


def _reason(stderr: str) -> str:
    """Return why git failed: its first informative line, since the last ones are usually general advice."""
    lines = (line.strip() for line in stderr.splitlines())
    return next((line for line in lines if line and not line.startswith(_UNINFORMATIVE)), "")


def _bound(most: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def _environment(environ: Mapping[str, str], folder: Path, *, local: bool) -> dict[str, str]:
    kept = {name: value for name, value in environ.items() if name in _VARIABLES or _PROXIES.fullmatch(name)}
    return kept | {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "true",
        "GIT_SSH_COMMAND": "ssh -oBatchMode=yes -oConnectTimeout=30 -oServerAliveInterval=20",
        "GIT_ALLOW_PROTOCOL": "https:ssh:file" if local else "https:ssh",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "GIT_CEILING_DIRECTORIES": str(folder),
        "LC_ALL": "C",
    }


def _user_settings(git: str, environ: Mapping[str, str]) -> list[str]:
    """Return the user's credential helpers and proxies, as `name=value`."""
    result = subprocess.run(
        [git, "config", "--global", "--null", "--get-regexp", _SETTINGS],
        env={name: value for name, value in environ.items() if name in (*_VARIABLES, "XDG_CONFIG_HOME")},
        cwd="/",
        capture_output=True,
        timeout=_TIMEOUT,
        check=False,
    )
    rows = result.stdout.decode(errors="replace").split("\0") if result.returncode == 0 else []
    return ["=".join(row.split("\n", 1)) for row in rows if "\n" in row]


def _pack(run: _Git, commit: str, source: GitUrl, packed: Path) -> None:
    """Write the files below the named folder into an archive, from the objects themselves."""
    limits = ArchiveLimits()
    below = [f"{source.path}/"] if source.path else []
    rows = [
        row
        for row in run("ls-tree", "-r", "-z", "--long", commit, "--", *below, most=_LARGEST_LISTING).split(b"\0")
        if row
    ]
    if len(rows) > limits.entries * 10:
        raise ArchiveRefused(f"{source.url} has {len(rows)} files", hint="name a folder in it with #path")
    entries = [match for row in rows if (match := _TREE.fullmatch(row))]
    files = [match for match in entries if match[1].decode() in (_LINK, _FILE, _PROGRAM)]
    if not files:
        raise ArchiveRefused(f"{source.url} has no folder {source.path}", hint="check the path after #")
    if sum(int(match[4]) for match in files) > limits.size:
        raise ArchiveRefused(f"its files have more than {limits.size} bytes", hint="name a folder in it with #path")
    contents = io.BytesIO(run("cat-file", "--batch", given=b"".join(match[3] + b"\n" for match in files)))
    with tarfile.open(packed, "w") as tar:
        for match in files:
            size = int(contents.readline().split()[-1])
            data = contents.read(size)
            contents.read(1)  # the line end
            path = PurePosixPath(match[5].decode("utf-8", "replace"))
            info = tarfile.TarInfo(str(path.relative_to(source.path) if source.path else path))
            info.mode = 0o755 if match[1].decode() == _PROGRAM else 0o644
            if match[1].decode() == _LINK:
                info.type, info.linkname = tarfile.SYMTYPE, data.decode("utf-8", "replace")
                tar.addfile(info)
            else:
                info.size = size
                tar.addfile(info, io.BytesIO(data))
