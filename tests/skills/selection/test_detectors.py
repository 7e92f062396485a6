"""The skills that each detector selects."""

from __future__ import annotations

import base64
import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goalwright_skills.errors import InputError
from goalwright_skills.selection.detectors import detector, top
from goalwright_skills.selection.index import building
from goalwright_skills.selection.index.postings import Postings
from goalwright_skills.selection.keyword import KeywordDetector
from goalwright_skills.selection.query.triggers import named
from goalwright_skills.selection.ranked import RankedDetector
from goalwright_skills.selection.ranking.bm25 import Scorer, TermPlaces
from tests.growth import growth
from tests.skills.tree import put, registry

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from goalwright_skills.skill import Skill


POOL = {
    "cataloging-apis": "Documents the endpoints of an API. Use for API documentation and endpoint catalogues.",
    "code-review": "Reviews code for quality, risks and style. Use when a change or pull request is to be reviewed.",
    "chinese-writing": "中文报告写作。使用时机：撰写报告、格式化输出、翻译技术内容。",
    "invoice-reader": "Reads invoices and receipts and extracts their totals. For expense reports, see expenses.",
    "expenses": "Prepares monthly spending overviews.",
    "kubernetes-debugging": "Diagnoses pods that crash, pending deployments and failing probes in a cluster.",
}


@pytest.fixture
def pool(tmp_path: Path) -> list[Skill]:
    for name, description in POOL.items():
        put(tmp_path / "skills" / name, name, f'"{description}"', f"# {name}\n\nSteps to follow.\n")
    return registry(tmp_path).list_skills()


@pytest.mark.parametrize(
    "goal",
    [
        "use skill code-review on this",
        "Use code-review skill",
        "please use the code-review skill here",
        "load skill code-review",
        "do it --skill code-review",
        "do it --skill=code-review",
        "$code-review the invoices",
        "Use the `code-review` skill",
        "USE SKILL Code-Review.",
    ],
)
@pytest.mark.parametrize("name", ["ranked", "keyword"])
def test_a_skill_that_the_goal_names_comes_first(pool: list[Skill], goal: str, name: str) -> None:
    first = detector(name).detect(goal + " and read invoices, receipts, extract totals", pool)[0]
    assert (first.name, first.score) == ("code-review", 1.0)
    assert "asks for it" in first.reason


@pytest.mark.parametrize("name", ["ranked", "keyword"])
@pytest.mark.parametrize(
    "goal", ["use skill $code-review on src/", "please load the code-review skill", "$code-review"]
)
def test_words_of_a_mention_select_no_other_skill(tmp_path: Path, goal: str, name: str) -> None:
    put(tmp_path / "skills" / "code-review", "code-review", "Reviews code.", "# Steps\n")
    put(
        tmp_path / "skills" / "skill-authoring", "skill-authoring", "Writes a skill. Use for a new skill.", "# Skills\n"
    )
    put(tmp_path / "skills" / "code-style", "code-style", "Style of code under review.", "# Code\n")
    selections = detector(name).detect(goal, registry(tmp_path).list_skills())
    assert [one.name for one in selections] == ["code-review"]


@pytest.mark.parametrize(
    "goal", ["use skill unknown", "costs $5", "code-review", "a$code-review", r"\$code-review", "--skills code-review"]
)
def test_other_words_do_not_name_a_skill(pool: list[Skill], goal: str) -> None:
    assert named(goal, pool) == []


def test_several_mentions_keep_their_order(pool: list[Skill]) -> None:
    goal = "$expenses then use the code-review skill, then $expenses"
    assert [selection.name for selection in named(goal, pool)] == ["expenses", "code-review"]


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        ("Write API documentation for the to-do service", "cataloging-apis"),
        ("document our APIs", "cataloging-apis"),
        ("review the code in my pull request for quality and risks", "code-review"),
        ("why does my deployment's pod keep crashing in the cluster", "kubernetes-debugging"),
        ("extract the totals from these receipts", "invoice-reader"),
        ("帮我写一份中文报告", "chinese-writing"),
        ("幫我撰寫一份中文報告", "chinese-writing"),
        ("翻譯這份技術內容", "chinese-writing"),
    ],
)
def test_the_right_skill_is_selected(pool: list[Skill], goal: str, expected: str) -> None:
    first = RankedDetector().detect(goal, pool)[0]
    assert first.name == expected
    assert 0 < first.score <= 1
    assert first.reason.startswith("words of the goal in its")


@pytest.mark.parametrize(
    "goal", ["Bake a chocolate cake", "", "the of and", "今天天气怎么样", "!!!", "sing me a lullaby"]
)
def test_nothing_is_selected_if_nothing_fits(pool: list[Skill], goal: str) -> None:
    assert RankedDetector().detect(goal, pool) == []
    assert RankedDetector().detect(goal, []) == []


def test_the_reason_names_the_shared_words(pool: list[Skill]) -> None:
    first = RankedDetector().detect("extract invoice totals, step by step", pool)[0]
    words, meaning = first.reason.rsplit("; ", 1)
    assert words == "words of the goal in its description: extract, invoice, totals; in its body: step"
    assert meaning.startswith("near in meaning (0.")


def test_referrals_count_for_the_other_skill(pool: list[Skill]) -> None:
    assert RankedDetector().rank("make an expense report", pool, 1)[0].name == "expenses"


def test_a_clause_that_names_no_skill_counts_for_its_own_skill(tmp_path: Path) -> None:
    put(tmp_path / "skills/a", "a", "Charts. For plotting telescopes, use matplotlib.")
    put(tmp_path / "skills/b", "b", "Bakes bread and cakes.")
    assert RankedDetector().rank("plotting telescopes", registry(tmp_path).list_skills(), 1)[0].name == "a"


def test_own_skills_win_near_ties_against_bundled_ones(pool: list[Skill]) -> None:
    (reader,) = (skill for skill in pool if skill.name == "invoice-reader")
    shipped = replace(reader, name="c-reader", source="bundled", stamp=0)
    for both in ([shipped, replace(reader, name="b-reader")], [replace(reader, name="b-reader"), shipped]):
        assert [one.name for one in RankedDetector().rank("extract the totals of receipts", both, 2)] == [
            "b-reader",
            "c-reader",
        ]
    clearly = [replace(reader, description="Receipts."), replace(shipped, name="totals-of-receipts")]
    assert RankedDetector().rank("extract the totals of receipts", clearly, 1)[0].name == "totals-of-receipts"


def test_early_words_of_a_goal_count_more_than_late_ones(tmp_path: Path) -> None:
    put(tmp_path / "skills/b", "b", "Handles receipts.")
    put(tmp_path / "skills/c", "c", "Handles tickets.")
    scorer = Scorer(Postings(building.build(registry(tmp_path).list_skills())))
    for words in (("receipt", "ticket"), ("ticket", "receipt")):
        query = scorer.query(dict.fromkeys(words, 1.0), (), {})
        receipts, tickets = scorer.candidates(query, TermPlaces(scorer.data, query.shares), (0, 1), ())
        assert (receipts.score > tickets.score) is (words[0] == "receipt")


def test_why_separates_diagnosing_from_creating_skills(tmp_path: Path) -> None:
    put(tmp_path / "skills/b", "b", "Starts jobs and lists jobs.")
    put(tmp_path / "skills/c", "c", "Says why jobs stop.")
    assert RankedDetector().rank("Why did my jobs end?", registry(tmp_path).list_skills(), 1)[0].name == "c"


def test_keyword_matches_words_of_name_and_description(pool: list[Skill]) -> None:
    selections = KeywordDetector().detect("Review the INVOICES", pool)
    assert {selection.name for selection in selections} == {"code-review", "invoice-reader"}
    assert "review" in next(s.reason for s in selections if s.name == "code-review")
    assert KeywordDetector().detect("bake a cake", pool) == []


def test_the_ranking_is_the_same_from_the_cache_and_after_changes(tmp_path: Path) -> None:
    for name, description in POOL.items():
        put(tmp_path / "skills" / name, name, f'"{description}"')
    cache = tmp_path / "cache"
    goal = "reading invoices and receipts"
    pool = registry(tmp_path).list_skills()
    plain = RankedDetector().rank(goal, pool, 5)
    assert RankedDetector(cache).rank(goal, pool, 5) == plain
    assert (cache / "postings.bin").exists()
    assert RankedDetector(cache).rank(goal, pool, 5) == plain
    put(tmp_path / "skills/new", "new", "Reading receipts of invoices.")
    changed = registry(tmp_path).list_skills()
    assert RankedDetector(cache).rank(goal, changed, 5) == RankedDetector().rank(goal, changed, 5)


def test_an_unchanged_pool_is_not_read_again(tmp_path: Path) -> None:
    put(tmp_path / "skills/a", "a", "Reads invoices.", "invoice body\n")
    (skill,) = registry(tmp_path).list_skills()
    stamped = [type(skill)(skill.name, skill.description, skill.file, skill.source, stamp=1)]
    cache = tmp_path / "cache"
    before = RankedDetector(cache).rank("invoice body", stamped, 1)
    skill.path.unlink()
    assert RankedDetector(cache).rank("invoice body", stamped, 1) == before


def test_workspaces_share_the_index_of_bundled_skills(tmp_path: Path) -> None:
    put(tmp_path / "skills/a", "a", "Reads invoices.", "invoice body\n")
    put(tmp_path / "skills/b", "b", "Reads receipts.", "receipt body\n")
    first, own = registry(tmp_path).list_skills()
    bundled = type(first)(first.name, first.description, first.file, "bundled", stamp=1)
    caches, goal = tmp_path / "caches", "invoice body"
    before = RankedDetector(caches / "one").rank(goal, [bundled], 1)
    both = RankedDetector().rank(goal, [bundled, own], 2)
    first.path.unlink()
    assert [file.name for file in caches.iterdir()] == ["bundled.bin"]
    assert RankedDetector(caches / "two").rank(goal, [bundled], 1) == before
    assert RankedDetector(caches / "three").rank(goal, [bundled, own], 2) == both
    assert {file.name for file in caches.rglob("*.bin")} == {"bundled.bin", "postings.bin"}


@pytest.mark.parametrize("rubbish", [b"", b"x", b"\0" * 5_000, b"\xff" * 3_000])
def test_a_broken_cache_is_rebuilt(tmp_path: Path, pool: list[Skill], rubbish: bytes) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "postings.bin").write_bytes(rubbish)
    assert RankedDetector(cache).rank("read receipts", pool, 3) == RankedDetector().rank("read receipts", pool, 3)


def test_a_corrupt_cache_is_rebuilt_without_a_crash(tmp_path: Path, pool: list[Skill]) -> None:
    stamped = [type(s)(s.name, s.description, s.file, s.source, stamp=1) for s in pool]
    data = building.build(stamped)
    cache = tmp_path / "cache"
    cache.mkdir()
    good = RankedDetector().rank("read invoices and receipts", stamped, 3)
    for cut_at in (2_100, len(data) // 2, len(data) - 8):
        (cache / "postings.bin").write_bytes(data[:cut_at] + b"\xff" * (len(data) - cut_at))
        selections = RankedDetector(cache).rank("read invoices and receipts", stamped, 3)
        assert len(selections) <= len(stamped)
    (cache / "postings.bin").write_bytes(data)
    assert RankedDetector(cache).rank("read invoices and receipts", stamped, 3) == good


def test_an_unknown_detector_names_the_known_ones() -> None:
    with pytest.raises(InputError, match="keyword, llm, ranked"):
        detector("magic")


def test_the_detector_that_asks_a_model_is_not_made_without_one() -> None:
    with pytest.raises(InputError, match="asks a model"):
        detector("llm")


def test_a_detector_of_an_installed_package_is_found_by_its_name(
    tmp_path: Path, pool: list[Skill], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "site/other-1.0.dist-info").mkdir(parents=True)
    (tmp_path / "site/other-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    points = "[goalwright.detectors]\nfirst = other_detector:First\nbad = other_detector:Missing\n"
    (tmp_path / "site/other-1.0.dist-info/entry_points.txt").write_text(points)
    (tmp_path / "site/other_detector.py").write_text(
        "class First:\n    def detect(self, goal, skills):\n"
        "        return [(one.name, 0.5, 'it is here') for one in skills[:2]]\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    selections = detector("first")
    assert len(selections.detect("x", pool)) == 2
    assert len(top(selections, "x", pool, 1)) == 1
    with pytest.raises(InputError, match="other_detector"):
        detector("bad")


def test_top_ranks_without_the_threshold(pool: list[Skill]) -> None:
    goal = "crash a party"
    assert RankedDetector().detect(goal, pool) == []
    selections = top(detector(), goal, pool, 3)
    assert len(selections) == min(3, len(pool))
    assert selections[0].name == "kubernetes-debugging"
    assert selections[-1].score < 0.1
    assert len(top(detector(), "zzzz qqqq", pool, 2)) == 2
    assert [s.name for s in top(detector(), "$expenses for invoices", pool, 2)] == ["expenses", "invoice-reader"]


@given(st.text(max_size=300))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_scores_of_any_goal_decrease_between_one_and_zero(pool: list[Skill], goal: str) -> None:
    scores = [selection.score for selection in RankedDetector().rank(goal, pool, 6)]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


_RANDOM = random.Random(1)
_DATA = base64.b64encode(_RANDOM.randbytes(37_500)).decode()
_CHINESE = "".join(chr(_RANDOM.randrange(0x4E00, 0x9FA5)) for _ in range(50_000))
LONG: dict[str, Callable[[int], str]] = {
    "dashes": lambda length: "-" * length,
    "dots": lambda length: "." * length,
    "spaces": lambda length: "review" + " " * length + "code",
    "blank lines": lambda length: "review" + " \r\n\t" * (length // 4) + "code",
    "dollar signs": lambda length: "$a$" * (length // 3),
    "names": lambda length: "use the code-review skill. " * (length // 27),
    "brackets": lambda length: "(" * (length // 2) + ")" * (length // 2),
    "quotes": lambda length: "\"'" * (length // 2),
    "one word": lambda length: "invoice " * (length // 8),
    "random data": lambda length: _DATA[:length],
    "Chinese": lambda length: _CHINESE[:length],
}


@pytest.mark.slow
@pytest.mark.parametrize("goal", LONG.values(), ids=LONG)
def test_time_grows_linearly_with_any_goal(pool: list[Skill], goal: Callable[[int], str]) -> None:
    ranked = detector("ranked")
    ranked.detect("review", pool)
    assert growth(lambda length: ranked.detect(goal(length), pool), 5_000, 30_000) < 1.5
