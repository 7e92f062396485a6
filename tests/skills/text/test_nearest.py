"""The known names most like an unknown one."""

from __future__ import annotations

from difflib import get_close_matches

from hypothesis import given
from hypothesis import strategies as st

from goalwright_skills.text.nearest import guess, known_are, nearest, nearest_names

NAMES = [f"skill-{number}" for number in range(50)] + ["code-review"]


def test_a_guess_is_the_closest_name_or_empty() -> None:
    assert guess("timout", ["timeout", "time", "tools"]) == "timeout"
    assert guess("zzz", ["timeout"]) == ""
    assert guess("row", {"rows": 1, "path": 2}, cutoff=0.5) == "rows"


def test_a_lower_cutoff_guesses_more_boldly() -> None:
    assert guess("abcdef", ["abcxyz"]) == ""
    assert guess("abcdef", ["abcxyz"], cutoff=0.5) == "abcxyz"


def test_nearest_ranks_every_name_and_ignores_the_case_of_the_unknown_one() -> None:
    assert nearest("CODE-REVIW", ["zebra", "code-style", "code-review"]) == ["code-review", "code-style", "zebra"]
    assert nearest("x", []) == []


def test_names_as_likely_as_each_other_are_in_alphabetical_order() -> None:
    assert nearest("q", ["b", "c", "a"]) == ["a", "b", "c"]


def test_nearest_names_shows_ten_and_counts_the_rest() -> None:
    text = nearest_names("code-reviews", NAMES)
    assert text.startswith("code-review, ")
    assert text.count(",") == 9
    assert text.endswith(" and 41 more")
    assert nearest_names("x", ["only"]) == "only"
    assert nearest_names("x", []) == "none"


def test_known_are_puts_three_close_names_before_the_others_in_their_order() -> None:
    text = known_are("code-reviews", NAMES)
    assert text == f"known are: code-review, {', '.join(NAMES[:11])} and 39 more"
    assert known_are("x", ["b", "a"]) == "known are: b, a"
    assert known_are("x", []) == "there are none"


@given(st.text(max_size=12), st.lists(st.text(min_size=1, max_size=12), max_size=20, unique=True))
def test_known_are_is_the_text_that_recorded_plans_depend_on(name: str, names: list[str]) -> None:
    """A refused plan is asked for again with this text, so replays compare it."""
    close = get_close_matches(name, names, n=3, cutoff=0.5)
    shown = [*close, *(other for other in names if other not in close)][:12]
    more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    expected = f"known are: {', '.join(shown)}{more}" if names else "there are none"
    assert known_are(name, names) == expected
