"""Fixtures for tests of tools."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from tests.needs import need

if TYPE_CHECKING:
    from pathlib import Path

# Go, with its own packages compiled. Since Go 1.20 it comes without: that takes a dozen seconds, and goalwright gives
# every build a cache of its own.
GO = """#!/bin/sh
if [ "$1" = build ]; then cp -R {cache} "$GOCACHE"; fi
exec {go} "$@"
"""
PROGRAM = """package main
import ("bufio"; "encoding/json"; "fmt"; "os"; "strings"; "unicode/utf8")
func main() {
    line, _ := bufio.NewReader(os.Stdin).ReadString(10)
    var given any
    fmt.Println(json.Unmarshal([]byte(line), &given), strings.ToUpper(line), utf8.RuneCountInString(line))
}
"""


@pytest.fixture
def warm_go(pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Go whose standard library is compiled already, once for each version of Go."""
    need("go")
    version = subprocess.run(["go", "version"], check=True, capture_output=True, text=True).stdout
    folder = pytestconfig.cache.mkdir(f"warm-go-{sha256(version.encode()).hexdigest()[:12]}")
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "bin").is_dir():
            _make(folder)
    monkeypatch.setenv("PATH", f"{folder / 'bin'}:/usr/local/bin:/usr/bin:/bin")


def _make(folder: Path) -> None:
    go = shutil.which("go")
    assert go is not None
    source, cache, program = folder / "source", folder / "cache", folder / "go"
    source.mkdir(exist_ok=True)  # from a run that was interrupted here
    (source / "go.mod").write_text("module warm\n\ngo 1.18\n")
    (source / "main.go").write_text(PROGRAM)
    flags = {"GOFLAGS": "-mod=readonly -modcacherw -buildvcs=false", "GOENV": "off", "GOTOOLCHAIN": "local"}
    env = {**os.environ, **flags, "CGO_ENABLED": "0", "GOCACHE": str(cache), "GOPATH": str(folder / "path")}
    subprocess.run([go, "build", "-o", str(folder / "warm"), "."], cwd=source, env=env, check=True)
    program.write_text(GO.format(cache=cache, go=go))
    program.chmod(0o755)
    (folder / "bin").mkdir()
    program.rename(folder / "bin" / "go")
