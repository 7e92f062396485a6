"""Builds a Go tool's program: fetches modules from a proxy, then compiles without network."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from goalwright_skills import untrusted_files
from goalwright_skills.confinement.box import Command
from goalwright_skills.programs import toolchain
from goalwright_skills.programs.build_cache import BuildCache, BuildError, BuildStep, cache_key
from goalwright_skills.programs.builds.pip_settings import connections
from goalwright_skills.programs.builds.verify import verify
from goalwright_skills.programs.fingerprint import fingerprint

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright_skills.programs.manifest import Manifest

PROXY = "https://proxy.golang.org"
PROGRAM = "tool"


async def program(manifest: Manifest, build_cache: BuildCache) -> Path:
    """Return the program built from a tool's folder, which is never written."""
    go = toolchain.find("go", "install Go, or ship the built program with `runtime: binary`")
    folder = manifest.folder.resolve()
    if not (folder / "go.mod").is_file():
        raise BuildError(f"{manifest.folder} has no go.mod", hint="run `go mod init` there")
    package = manifest.entry_path.resolve().parent
    proxy = _proxy(build_cache.environ)
    key = cache_key("go", fingerprint(folder), toolchain.version(go, "version"), manifest.entry, proxy)
    async with build_cache.folder("go", key, f"{manifest.name}: building its Go program") as build:
        built = build.path / PROGRAM
        if not build.ready:
            vendored = (folder / "vendor" / "modules.txt").is_file()
            env = _environment(build.work, "vendor" if vendored else "readonly")
            readable = (toolchain.prefix(go),)
            if not vendored and "require" in untrusted_files.read(folder / "go.mod").decode("utf-8", "replace"):
                connection = connections(build_cache.environ)
                online = {**connection.env, **env, "GOPROXY": proxy, "GOSUMDB": _sums(build_cache.environ)}
                fetch = Command((go, "mod", "download"), (*readable, *_local(proxy), *connection.reads))
                await build_cache.run_step(
                    build, BuildStep("go mod download", fetch, online, network=True, cwd=folder, readable=(folder,))
                )
            make = Command((go, "build", "-o", str(built), "."), readable)
            await build_cache.run_step(build, BuildStep("go build", make, env, cwd=package, readable=(folder,)))
            verify(build.path)
            built.chmod(0o755)
    return built


def _environment(work: Path, modules: str) -> dict[str, str]:
    """Return Go's settings: none of the user's or the folder's, no cgo, version control or other toolchain."""
    return {
        "CGO_ENABLED": "0",
        "GOENV": "off",
        "GOWORK": "off",
        "GOTOOLCHAIN": "local",
        "GOVCS": "*:off",
        "GOPROXY": "off",
        "GOFLAGS": f"-mod={modules} -modcacherw -buildvcs=false",
        "GOPATH": str(work / "go"),
        "GOCACHE": str(work / "go-cache"),
    }


def _proxy(environ: Mapping[str, str]) -> str:
    """Return the module proxies that the user set, or the default; `direct` would start version control."""
    proxies = [
        proxy for proxy in re.split(r"[,|]", environ.get("GOPROXY", "")) if proxy.strip() not in {"", "direct", "off"}
    ]
    return ",".join(proxies) or PROXY


def _sums(environ: Mapping[str, str]) -> str:
    return environ.get("GOSUMDB") or "sum.golang.org"


def _local(proxy: str) -> tuple[Path, ...]:
    paths = [Path(unquote(urlsplit(url).path)) for url in proxy.split(",") if url.startswith("file://")]
    return tuple(path for path in paths if path.is_absolute())
