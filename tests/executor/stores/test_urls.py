"""The URLs of journals."""

from __future__ import annotations

from pathlib import Path

import pytest

from goalwright_executor.journal.open_store import open_store
from goalwright_executor.stores.urls import normalized, url_of
from goalwright_skills.errors import InputError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite"


@pytest.mark.parametrize("form", ["sqlite:///{}", "sqlite://{}", "{}"])
def test_a_journal_is_named_by_url_or_path(path: Path, form: str) -> None:
    url = normalized(form.format(path), Path("/"))
    assert url == f"sqlite:///{path}"
    open_store(url).close()
    assert path.exists()


def test_a_relative_url_starts_at_the_given_folder(tmp_path: Path) -> None:
    assert normalized("sqlite:///runs.sqlite", tmp_path) == f"sqlite:///{tmp_path}/runs.sqlite"
    assert normalized("runs.sqlite", tmp_path) == f"sqlite:///{tmp_path}/runs.sqlite"


def test_special_characters_in_a_path_survive(tmp_path: Path) -> None:
    odd = tmp_path / "100% ?#a b.sqlite"
    open_store(url_of(odd)).close()
    assert odd.exists()


def test_an_unknown_kind_of_journal_is_refused() -> None:
    with pytest.raises(InputError, match="unknown kind 'oracle'"):
        open_store("oracle://db")
