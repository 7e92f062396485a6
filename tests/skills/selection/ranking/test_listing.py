"""The listing for a planner: fitting skills first, then similar ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goalwright_skills.selection.ranked import LISTED, RankedDetector
from goalwright_skills.selection.ranking.listing import FITTING
from tests.skills.tree import put, registry

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_skills.skill import Skill

# Functions of one service, of which a goal names what it wants, and never the search that gives the id.
FILMS = {
    "film-poster": "Fetch the poster images of a film using its ID.",
    "film-credits": "Fetch the cast and crew of a film using its ID.",
    "film-reviews": "Fetch what users wrote about a film using its ID.",
    "film-search": "Search and find films.",
    "episode-stills": "Fetch the images of a TV episode using its ID.",
    "episode-credits": "Fetch the cast and crew of a TV episode using its ID.",
    "season-details": "Fetch a TV season with its episodes using its ID.",
    "show-details": "Fetch a TV show using its ID.",
    "show-search": "Search and find TV shows.",
}
OTHERS = (
    ("garden", "Plans beds, seeds and watering of a {} garden."),
    ("tax", "Prepares {} tax returns for small companies."),
    ("knots", "Ties {} knots for sailing boats."),
    ("soup", "Cooks {} soup for many guests."),
    ("contract", "Reviews {} contracts for risky clauses."),
    ("welding", "Welds {} pipes without cracks."),
)
KINDS = ("winter", "spring", "summer", "autumn", "northern", "southern", "large", "small")
GOAL = "Give me a picture of the second episode of the first season of The Witcher"


@pytest.fixture
def pool(tmp_path: Path) -> list[Skill]:
    described = FILMS | {f"{kind}-{name}": text.format(kind) for name, text in OTHERS for kind in KINDS}
    for name, description in described.items():
        put(tmp_path / "skills" / name, name, f'"{description}"', "")
    return registry(tmp_path).list_skills()


def listed(pool: list[Skill], limit: int) -> list[str]:
    return [one.name for one in RankedDetector().rank(GOAL, pool, limit)]


def test_the_last_places_go_to_skills_similar_to_the_best(pool: list[Skill]) -> None:
    selections = listed(pool, LISTED)
    assert len(selections) == len(set(selections)) == LISTED
    assert set(FILMS) <= set(selections), "the searches too, which the goal says nothing of"


def test_the_first_places_go_to_fitting_skills(pool: list[Skill]) -> None:
    assert listed(pool, LISTED)[:FITTING] == listed(pool, FITTING)


def test_listed_scores_decrease(pool: list[Skill]) -> None:
    scores = [one.score for one in RankedDetector().rank(GOAL, pool, LISTED)]
    assert scores == sorted(scores, reverse=True)


def test_a_listing_is_no_longer_than_the_pool(pool: list[Skill]) -> None:
    few = [skill for skill in pool if skill.name in FILMS]
    assert sorted(listed(few, LISTED)) == sorted(FILMS)
