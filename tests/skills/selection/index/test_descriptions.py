"""Clauses of descriptions about their own and other skills."""

from __future__ import annotations

import pytest

from goalwright_skills.selection.index.descriptions import cut


@pytest.mark.parametrize(
    ("text", "own", "referrals"),
    [
        ("Does x. For y and z, see other.", "Does x. ", (("other", "y and z"),)),
        ("Does x. For why→other-one. Then z.", "Does x.  Then z.", (("other-one", "why"),)),
        ("Does x. Not for pull requests.", "Does x. ", ()),
        ("Plain.", "Plain.", ()),
    ],
)
def test_clauses_about_other_skills_are_split_off(text: str, own: str, referrals: tuple[tuple[str, str], ...]) -> None:
    clauses = cut(text)
    assert (clauses.own, tuple((each.other, each.subject) for each in clauses.referrals)) == (own, referrals)


@pytest.mark.slow
def test_hostile_descriptions_are_split_quickly() -> None:
    for text in (
        "see " * 100_000,
        "for x see" + " " * 200_000 + "!",
        "a -> " * 50_000,
        "for " * 100_000,
        "→" * 100_000,
    ):
        assert len(cut(text).own) <= 100_000
