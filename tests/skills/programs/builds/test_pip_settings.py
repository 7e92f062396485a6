"""A build uses the user's package index and none of their other settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from goalwright_skills.programs.build_cache import BuildError
from goalwright_skills.programs.builds.pip_settings import read


def configured(tmp_path: Path, text: str, **environ: str) -> dict[str, str]:
    path = tmp_path / ".config" / "pip" / "pip.conf"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return {"HOME": str(tmp_path), "XDG_CONFIG_DIRS": str(tmp_path / "none"), **environ}


def test_indexes_become_variables(tmp_path: Path) -> None:
    text = (
        "[global]\nindex-url = https://u:p@pypi.corp/simple\nextra-index-url =\n  https://a\n  https://b\nuser = yes\n"
    )
    environ = configured(tmp_path, text, OPENAI_API_KEY="sk", PIP_TARGET="/x", HTTPS_PROXY="http://proxy:1")
    found = read(environ)
    assert found.env["PIP_INDEX_URL"] == "https://u:p@pypi.corp/simple"
    assert found.env["PIP_EXTRA_INDEX_URL"] == "https://a https://b"
    assert found.env["PIP_CONFIG_FILE"] == "/dev/null"
    assert found.env["HTTPS_PROXY"] == "http://proxy:1"
    assert not {*found.env} & {"OPENAI_API_KEY", "PIP_TARGET", "PIP_USER"}


def test_precedence_of_variables_and_files(tmp_path: Path) -> None:
    text = "[global]\nindex-url = https://a\ntrusted-host = a\n[install]\ntrusted-host = b\n[download]\nretries = 3\n"
    found = read(configured(tmp_path, text, PIP_INDEX_URL="https://c")).env
    assert (found["PIP_INDEX_URL"], found["PIP_TRUSTED_HOST"], found["PIP_RETRIES"]) == ("https://c", "b", "3")
    assert "PIP_INDEX_URL" not in read(configured(tmp_path, text, PIP_CONFIG_FILE="/dev/null")).env


def test_local_index_is_readable_with_its_files(tmp_path: Path) -> None:
    environ = configured(
        tmp_path, "", PIP_EXTRA_INDEX_URL="file:///opt/py%20pi/simple", PIP_FIND_LINKS="/opt/wheels rel"
    )
    assert read(environ).reads[:2] == (Path("/opt/py pi"), Path("/opt/wheels"))
    shallow = read(environ | {"PIP_EXTRA_INDEX_URL": f"file://{Path.home()}/simple", "PIP_FIND_LINKS": ""})
    assert shallow.reads[0] == Path.home() / "simple"


def test_index_changes_the_build_key_and_proxy_does_not(tmp_path: Path) -> None:
    plain = read(configured(tmp_path, ""))
    assert read(configured(tmp_path, "[global]\nindex-url = https://a")).key != plain.key
    assert read(configured(tmp_path, "", PIP_EXTRA_INDEX_URL="https://a")).key != plain.key
    assert read(configured(tmp_path, "", HTTPS_PROXY="http://proxy:1")).key == plain.key


def test_no_index_disables_the_network(tmp_path: Path) -> None:
    assert read(configured(tmp_path, "")).network
    assert not read(configured(tmp_path, "", PIP_NO_INDEX="1")).network


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"pip\.conf cannot be read"):
        read(configured(tmp_path, "index-url = https://a"))
