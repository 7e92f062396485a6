"""Other projects to compare with, each in a virtual environment of its own, made once and kept in the user's cache.

A peer's program is a module of `bench.peers`. It reads a JSON document from standard input and reports in lines of
JSON, so that what it measured before its time was up is kept.
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
    """A project, and what pip installs for it; the first requirement is the project itself."""

    name: str
    requirements: tuple[str, ...]


def _as_here(name: str) -> str:
    """The version of a package that is installed here; a peer's own environment need not have it."""
    with suppress(PackageNotFoundError):
        return f"{name}=={version(name)}"
    return name


PEERS = {
    "langgraph": Peer("LangGraph", ("langgraph", "langgraph-checkpoint-sqlite", "aiosqlite")),
    "langgraph-calls": Peer("LangGraph", ("langgraph", _as_here("litellm"))),
    "pydantic-graph": Peer("pydantic-graph", ("pydantic-graph",)),
    "dask": Peer("Dask", ("dask",)),
    # Newer releases of fastapi fail with it, though its metadata allows them.
    "prefect": Peer("Prefect", ("prefect", "fastapi<0.150")),
    "dbos": Peer("DBOS", ("dbos",)),
    "llm": Peer("llm", ("llm",)),
}


class MissingPeer(Exception):
    """A peer cannot be measured here; the message says why."""


@dataclass(frozen=True, slots=True)
class Reported:
    """What a peer's program reported, and what kept it from reporting everything."""

    lines: list[dict[str, Any]]
    fault: str = ""


@dataclass(slots=True)
class Environments:
    """The environments of the peers, made when first asked for."""

    folder: Path = field(default_factory=lambda: user_folders.cache() / "bench")
    _pythons: dict[str, Path] = field(default_factory=dict)
    _missing: dict[str, str] = field(default_factory=dict)
    _versions: dict[str, list[str]] = field(default_factory=dict)

    def python(self, key: str) -> Path:
        """The interpreter of a peer's environment; raises MissingPeer if pip cannot install it."""
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
        """What is installed for a peer, with versions."""
        self.python(key)
        return self._versions.get(key, [])

    def report(self, key: str, program: str, document: Any, limit: float) -> Reported:
        """Run a peer's program for at most `limit` seconds; raises MissingPeer."""
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
        place = self.folder / f"{key}-{digest}"
        python = place / "bin" / "python"
        if not (place / "complete").is_file():
            self._install(peer, place, python)
        names = [requirement.split("<")[0].split("=")[0] for requirement in peer.requirements]
        found = subprocess.run([python, "-c", _VERSIONS, *names], capture_output=True, text=True, check=True)
        self._versions[key] = [f"{name} {version}" for name, version in json.loads(found.stdout).items()]
        return python

    def _install(self, peer: Peer, place: Path, python: Path) -> None:
        print(f"making an environment for {peer.name} …", file=sys.stderr, flush=True)
        shutil.rmtree(place, ignore_errors=True)
        venv.create(place, with_pip=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *peer.requirements]
        log = self.folder / f"{place.name}.log"
        with log.open("wb") as output:
            done = subprocess.run(pip, stdout=output, stderr=output, check=False)
        if done.returncode:
            shutil.rmtree(place, ignore_errors=True)
            print(f"pip could not install {peer.name}: see {log}", file=sys.stderr)
            raise MissingPeer("not measured: pip could not install it here")
        (place / "complete").touch()


def clean(home: str | Path) -> dict[str, str]:
    """An environment without anything of this process that would change what a command does."""
    kept = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SSL_CERT_FILE")
    return {name: os.environ[name] for name in kept if name in os.environ} | {"HOME": str(home)}


def _finished(process: subprocess.Popen[bytes], document: bytes, limit: float) -> str:
    """Wait for a program and end all that it started; returns what went wrong, if something did."""
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
