"""Words of a goal that no skill has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goalwright_skills.selection.encoder import Table
from goalwright_skills.selection.index.building import build
from goalwright_skills.selection.index.postings import Postings
from goalwright_skills.selection.ranked import RankedDetector
from goalwright_skills.selection.ranking.bm25 import Scorer, TermPlaces
from goalwright_skills.selection.ranking.pool import Pool
from goalwright_skills.selection.ranking.reading import UNFAMILIAR, Passage
from tests.skills.tree import library, put, registry

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def pool(tmp_path: Path) -> Pool:
    put(tmp_path / "skills" / "search", "search", '"Sets up a PostgreSQL index for full-text search."')
    put(tmp_path / "skills" / "forms", "forms", '"Builds forms for web pages in React."')
    table, skills = Table.shipped(), registry(tmp_path).list_skills()
    data = Postings(build(skills, table))
    return Pool(skills, Scorer(data), data.vectors, table)


def unheard(goal: str, pool: Pool) -> float:
    passage = Passage(goal, pool)
    passage.look(TermPlaces(pool.scorer.data, passage.query.shares), 4, 4)
    return passage.outlook.unheard


def test_unknown_words_count_by_their_weight(pool: Pool) -> None:
    table = pool.table
    assert table is not None
    assert unheard("set up an Elasticsearch index", pool) == table.weight("elasticsearch")
    assert unheard("set up a PostgreSQL index", pool) == 0


def test_everyday_words_and_numbers_are_not_unheard(pool: Pool) -> None:
    assert unheard("please set up 3 forms for mother", pool) == 0


def test_words_unknown_to_the_encoder_have_the_median_weight(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool.table, "weight", lambda _: None)
    assert unheard("set up a Qxzvbn index", pool) == UNFAMILIAR


def test_unheard_words_are_ignored_in_other_languages(pool: Pool) -> None:
    assert unheard("richte bitte einen Elasticsearch-Index für die Suche ein", pool) == 0


def test_the_explanation_names_the_unheard_word() -> None:
    unheard_word = RankedDetector().explain("configure a Kibana dashboard", library(), 1)
    assert 'no skill has "kibana"' in unheard_word.candidates[0].change


def test_everyday_talk_about_a_tool_names_no_skill(tmp_path: Path) -> None:
    put(tmp_path / "skills" / "spanner", "spanner-basics", '"Creates Spanner databases and their schemas."')
    skills = registry(tmp_path).list_skills()
    goal = "My bike stood in the cellar for years. Which size of spanner do I need for the pedals and the saddle?"
    assert [one.name for one in RankedDetector().detect(goal, skills)] == []
    assert RankedDetector().detect("create the Spanner database", skills)[0].name == "spanner-basics"
