"""The words of a goal that its best skill covers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goalwright_skills.selection.index.building import build
from goalwright_skills.selection.index.postings import Postings
from goalwright_skills.selection.ranking.bm25 import Scorer, TermPlaces
from goalwright_skills.selection.ranking.combination import need_features
from goalwright_skills.selection.ranking.pool import Pool
from goalwright_skills.selection.ranking.reading import Passage
from goalwright_skills.selection.ranking.signals import Agreement, Outlook, Signals
from tests.skills.tree import put, registry

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def pool(tmp_path: Path) -> Pool:
    put(tmp_path / "skills" / "invoices", "invoices", '"Reads totals from scanned invoices."', "Ask for the currency.")
    put(tmp_path / "skills" / "receipts", "receipts", '"Files receipts and invoices by month."')
    skills = registry(tmp_path).list_skills()
    data = Postings(build(skills, None))
    return Pool(skills, Scorer(data), data.vectors, None)


def agreement(goal: str, pool: Pool, name: str) -> Agreement:
    passage = Passage(goal, pool)
    passage.look(TermPlaces(pool.scorer.data, passage.query.shares), 4, 0)
    return passage.agreement([skill.name for skill in pool.skills].index(name))


def test_description_and_body_words_are_counted_apart(pool: Pool) -> None:
    agreements = agreement("scanned invoices with their currency and a walrus", pool, "invoices")
    assert (agreements.described, agreements.in_body) == (2, 1)


def test_words_of_fewer_skills_are_rarer(pool: Pool) -> None:
    common, rare = (agreement(goal, pool, "invoices").rarest for goal in ("invoices", "scanned"))
    assert 0 < common < rare


def test_no_shared_word_gives_no_agreement(pool: Pool) -> None:
    assert agreement("a walrus", pool, "receipts") == Agreement()


def test_word_features_are_capped_for_long_goals() -> None:
    few, many = (need_features(Signals(), Agreement(said, said), Outlook()) for said in (20, 200))
    assert few == many
