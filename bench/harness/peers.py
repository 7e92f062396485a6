"""Other projects to compare with, each in a virtual environment that is created once in the user's cache.

A peer's program is a module of `bench.peers`. It reads a JSON request from stdin and reports JSON lines, so that a
timeout keeps the figures reported so far.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import venv
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bench.harness.machine import ROOT
from goalwright_skills import user_folders

_VERSIONS = """
import json, sys
from importlib.metadata import version
print(json.dumps({name: version(name) for name in sys.argv[1:]}))
"""


@dataclass(frozen=True, slots=True)
class Peer:
    """A project and its pip requirements; the first one is the project itself."""

    name: str
    requirements: tuple[str, ...]


def _same_version(name: str) -> str:
    """Pin a package to the version installed here, if it is installed."""
    with suppress(PackageNotFoundError):
        return f"{name}=={version(name)}"
    return name


PEERS = {
    "langgraph": Peer("LangGraph", ("langgraph", "langgraph-checkpoint-sqlite", "aiosqlite")),
    "langgraph-calls": Peer("LangGraph", ("langgraph", _same_version("litellm"))),
    "pydantic-graph": Peer("pydantic-graph", ("pydantic-graph",)),
    "dask": Peer("Dask", ("dask",)),
    # Newer releases of fastapi fail with it, though its metadata allows them.
    "prefect": Peer("Prefect", ("prefect", "fastapi<0.150")),
    "dbos": Peer("DBOS", ("dbos",)),
    "llm": Peer("llm", ("llm",)),
}


class MissingPeer(Exception):
    """A peer cannot be measured on this machine."""


@dataclass(frozen=True, slots=True)
class Reported:
    """The figures of a peer's program, and the fault that ended it early."""

    lines: list[dict[str, Any]]
    fault: str = ""


@dataclass(slots=True)
class Environments:
    """The environments of the peers, created on first use."""

    folder: Path = field(default_factory=lambda: user_folders.cache() / "bench")
    _pythons: dict[str, Path] = field(default_factory=dict)
    _missing: dict[str, str] = field(default_factory=dict)
    _versions: dict[str, list[str]] = field(default_factory=dict)

    def python(self, key: str) -> Path:
        """Return the interpreter of a peer's environment; raise MissingPeer if pip cannot install it."""
        if key in self._missing:
            raise MissingPeer(self._missing[key])
        if key not in self._pythons:
            try:
                self._pythons[key] = self._prepared(key)
            except MissingPeer as missing:
                self._missing[key] = str(missing)
                raise
        return self._pythons[key]

    def version(self, key: str) -> list[str]:
        """Return the packages installed for a peer, with versions."""
        self.python(key)
        return self._versions.get(key, [])

    def report(self, key: str, program: str, document: Any, limit: float) -> Reported:
        """Run a peer's program for at most `limit` seconds; raise MissingPeer if it is not installed."""
        python = self.python(key)
        with tempfile.TemporaryDirectory(prefix="bench-") as home:
            out, log = Path(home, "report.jsonl"), Path(home, "log")
            out.touch()
            command = [str(python), "-m", f"bench.peers.{program}", str(out)]
            with log.open("wb") as errors:
                process = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=errors, stderr=errors, cwd=ROOT, env=clean(home),
                    start_new_session=True,
                )  # fmt: skip
                fault = _finished(process, json.dumps(document).encode(), limit)
            lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines() if line.endswith("}")]
            if fault == "failed":
                last = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
                fault = "failed: " + (last[0][:120] if last else "without a message")
            return Reported(lines, fault)

    def _prepared(self, key: str) -> Path:
        peer = PEERS[key]
        digest = hashlib.sha256("\0".join((*peer.requirements, sys.version)).encode()).hexdigest()[:12]
        folder = self.folder / f"{key}-{digest}"
        python = folder / "bin" / "python"
        if not (folder / "complete").is_file():
            self._install(peer, folder, python)
        names = [requirement.split("<")[0].split("=")[0] for requirement in peer.requirements]
        found = subprocess.run([python, "-c", _VERSIONS, *names], capture_output=True, text=True, check=True)
        self._versions[key] = [f"{name} {version}" for name, version in json.loads(found.stdout).items()]
        return python

    def _install(self, peer: Peer, folder: Path, python: Path) -> None:
        print(f"creating an environment for {peer.name} …", file=sys.stderr, flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *peer.requirements]
        log = self.folder / f"{folder.name}.log"
        with log.open("wb") as output:
            done = subprocess.run(pip, stdout=output, stderr=output, check=False)
        if done.returncode:
            shutil.rmtree(folder, ignore_errors=True)
            print(f"pip could not install {peer.name}: see {log}", file=sys.stderr)
            raise MissingPeer("not measured: pip could not install it here")
        (folder / "complete").touch()


def clean(home: str | Path) -> dict[str, str]:
    """Return environment variables without any that change the behaviour of a command."""
    names = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SSL_CERT_FILE")
    return {name: os.environ[name] for name in names if name in os.environ} | {"HOME": str(home)}


def _finished(process: subprocess.Popen[bytes], document: bytes, limit: float) -> str:
    """Wait for a program, kill its process group, and return the fault, if any."""
    try:
        process.communicate(document, timeout=limit)
    except subprocess.TimeoutExpired:
        return f"not within {limit:.0f} s"
    else:
        return "failed" if process.returncode else ""
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
