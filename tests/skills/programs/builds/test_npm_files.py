"""Validation and rewriting of package.json and package-lock.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from goalwright_skills.programs.build_cache import BuildError
from goalwright_skills.programs.builds import npm_build, npm_files

PUBLIC = "https://registry.npmjs.org/tea/-/tea-1.0.0.tgz"
LOCK = Path("package-lock.json")
ELSEWHERE = [
    "git+https://example.org/x.git",
    "git+ssh://git@example.org/x",
    "git://example.org/x",
    "git@github.com:a/b.git",
    "a/b",
    "github:a/b",
    "gitlab:a/b",
    "gist:1234",
    "https://example.org/x.tgz",
    "http://example.org/x.tgz",
    "file:../x",
    "file:x.tgz",
    "./x",
    "../x",
    "/x",
    "~/x",
    "~",
    ".",
    "..",
    ".x",
    "x.tgz",
    "x.tar.gz",
    "x.tar",
    " ./x",
    "link:../x",
    "portal:../x",
    "workspace:*",
    "workspace:^1.0.0",
    "npm:x@git+https://example.org/x",
    "npm:../x@1",
    "npm:x@file:../y",
    "npm:a/b",
    "npm:@evil/../x@1",
    "patch:x@1",
    "exec:x",
    "C:\\x",
    "c:x",
    "",
    7,
    None,
    ["1"],
    {"x": "1"},
    "1.0.0#semver:x",
    "https:registry.npmjs.org/x",
    "1 || git+https://x",
]


def document(tmp_path: Path, **keys: Any) -> dict[str, Any]:
    (tmp_path / "package.json").write_text(json.dumps(keys))
    return npm_files.read_manifest(tmp_path / "package.json")


@pytest.mark.parametrize(
    "version",
    [
        "1.0.0",
        "^4.17.0",
        "~1.2",
        ">=1 <2 || 3.x",
        "*",
        "latest",
        "1.0.0-rc.1+b",
        "npm:tea@^1",
        "npm:@a/tea@1",
        "npm:tea",
    ],
)
def test_registry_versions_are_accepted(tmp_path: Path, version: str) -> None:
    assert document(tmp_path, dependencies={"x": version})["dependencies"] == {"x": version}


@pytest.mark.parametrize("kind", ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"])
@pytest.mark.parametrize("version", [one for one in ELSEWHERE if one != ""])
def test_a_version_from_elsewhere_is_refused(tmp_path: Path, kind: str, version: Any) -> None:
    with pytest.raises(BuildError, match="not a version on the registry") as caught:
        document(tmp_path, **{kind: {"tea": version}})
    assert "package.json" in caught.value.message
    assert "tea" in caught.value.message


@pytest.mark.parametrize("name", ["../x", "a/b", "@a/../x", "", ".x", "a b", "node_modules", "@a/node_modules", "x\n"])
def test_a_name_that_is_a_path_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BuildError, match="not a package name"):
        document(tmp_path, dependencies={name: "1"})


def test_overrides_are_checked_at_any_depth(tmp_path: Path) -> None:
    assert document(tmp_path, dependencies={"x": "1"}, overrides={"a": {"b": "$x"}})["overrides"]
    for wrong in ({"a": {"b": {"c": "git+https://x"}}}, {"a": "$file:../x"}, ["file:x"], "x"):
        with pytest.raises(BuildError):
            document(tmp_path, dependencies={"x": "1"}, overrides=wrong)


def test_scripts_and_other_keys_are_dropped(tmp_path: Path) -> None:
    found = document(
        tmp_path, dependencies={"x": "1"}, scripts={"preinstall": "evil"}, config={"git": "x"}, type="module"
    )
    assert found == {"name": "tool", "version": "0.0.0", "private": True, "dependencies": {"x": "1"}}
    with pytest.raises(BuildError, match="workspaces"):
        document(tmp_path, dependencies={"x": "1"}, workspaces=["."])


def locked(**packages: Any) -> dict[str, Any]:
    return npm_files.checked_lock(
        {"packages": {"": {}, **packages}}, LOCK, {"dependencies": {"tea": "1"}}, {"https://npm.corp"}
    )


def tea(**keys: Any) -> dict[str, Any]:
    return {"node_modules/tea": {"version": "1.0.0", "resolved": PUBLIC, "integrity": "sha512-x", **keys}}


def test_lock_is_rewritten_with_the_needed_keys() -> None:
    found = locked(**tea(scripts={"install": "evil"}))
    assert found["packages"][""] == {"dependencies": {"tea": "1"}}
    assert found["packages"]["node_modules/tea"] == {"version": "1.0.0", "resolved": PUBLIC, "integrity": "sha512-x"}


@pytest.mark.parametrize(
    "resolved",
    [
        PUBLIC,
        "https://registry.npmjs.org/@a/tea/-/tea-1.0.0.tgz",
        "https://npm.corp/api/tea-1.0.0.tgz",
    ],
)
def test_tarballs_of_the_users_registries_are_accepted(resolved: str) -> None:
    assert locked(**tea(resolved=resolved))


@pytest.mark.parametrize(
    "resolved",
    [
        "git+https://example.org/x.git#abc",
        "git+ssh://git@github.com/a/b.git#abc",
        "https://example.org/tea-1.0.0.tgz",
        "http://registry.npmjs.org/tea/-/tea-1.0.0.tgz",
        "http://npm.corp/tea-1.0.0.tgz",
        "file:../tea",
        "../tea",
        "tea.tgz",
        "https://registry.npmjs.org@example.org/tea/-/tea-1.0.0.tgz",
        "https://registry.npmjs.org.evil.org/tea/-/tea-1.tgz",
        "https://registry.npmjs.org:8443/tea/-/tea-1.0.0.tgz",
        "https://u:p@registry.npmjs.org/tea/-/tea-1.0.0.tgz",
        "https://registry.npmjs.org/tea",
        "https://npm.corp@evil.org/x.tgz",
        "https://[",
        "",
        False,
        None,
        1,
        ["x"],
    ],
)
def test_a_lock_entry_from_elsewhere_is_refused(resolved: Any) -> None:
    with pytest.raises(BuildError, match="not from the registry"):
        locked(**tea(resolved=resolved))


@pytest.mark.parametrize("version", [*ELSEWHERE, "latest", "^1.0.0"])
def test_locked_version_must_be_exact(version: Any) -> None:
    entry = {"node_modules/tea": {"version": version}}
    with pytest.raises(BuildError, match="not a version on the registry"):
        locked(**entry)


@pytest.mark.parametrize(
    "place",
    [
        "../evil",
        "packages/tea",
        "node_modules/../../evil",
        "node_modules/a/../b",
        "/node_modules/tea",
        "x/node_modules/tea",
        "node_modules",
        "node_modules/",
        "node_modules/tea/lib",
        "node_modules/@a",
        "node_modules//tea",
    ],
)
def test_lock_entries_must_be_package_folders(place: str) -> None:
    with pytest.raises(BuildError, match="not a folder of packages"):
        locked(**{place: tea()["node_modules/tea"]})


@pytest.mark.parametrize(
    "keys",
    [
        {"link": True},
        {"name": "x@git+https://example.org/x"},
        {"dependencies": {"y": "git+https://example.org/y"}},
        {"optionalDependencies": {"y": "file:../y"}},
        {"peerDependencies": {"y": "a/b"}},
        {"dependencies": ["y"]},
    ],
)
def test_lock_entry_cannot_refer_elsewhere(keys: dict[str, Any]) -> None:
    with pytest.raises(BuildError):
        locked(**tea(**keys))


def test_old_lock_error_has_a_remedy() -> None:
    with pytest.raises(BuildError) as caught:
        npm_files.checked_lock(
            {"lockfileVersion": 1, "dependencies": {"x": {"version": "git+https://x"}}}, LOCK, {}, ()
        )
    assert "npm install --package-lock-only" in caught.value.hint


def test_only_the_registries_of_an_npmrc_are_passed_on_and_only_their_credentials(tmp_path: Path) -> None:
    (tmp_path / ".npmrc").write_text(
        "registry=https://npm.corp/api/\n@tea:registry = https://tea.corp/\n//npm.corp/api/:_authToken=${CORP}\n"
        "//registry.npmjs.org/:_authToken=publish\n//other.org/:_authToken=other\ngit=./evil.sh\nscript-shell=./evil.sh\n"
        "node-options=--require ./evil.js\nignore-scripts=false\nprefix=/evil\n; a comment\nfund=false\n"
    )
    found = npm_build.read_settings({"HOME": str(tmp_path), "CORP": "secret", "OPENAI_API_KEY": "sk"}, tmp_path)
    assert found.npmrc.splitlines() == [
        "//npm.corp/api/:_authToken=secret",
        "@tea:registry=https://tea.corp/",
        "registry=https://npm.corp/api/",
    ]
    assert found.hosts == {"https://npm.corp", "https://tea.corp"}
    assert found.env == {}


def test_a_variable_names_the_registry(tmp_path: Path) -> None:
    found = npm_build.read_settings({"HOME": str(tmp_path), "npm_config_registry": "http://127.0.0.1:4873/"}, tmp_path)
    assert found.hosts == {"http://127.0.0.1:4873"}
