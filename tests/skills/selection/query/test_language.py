"""Goals in another language than the skills, and the merge of two rankings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goalwright_skills.selection.query.language import language, languages
from goalwright_skills.selection.ranked import RankedDetector, TranslatedDetector
from tests.skills.tree import put, registry

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright_skills.skill import Skill

ENGLISH = {
    "cold-email": "Writes cold emails and outreach sequences to people who do not know you.",
    "pricing": "Designs the pricing of a product: tiers, packages and the price itself.",
    "api-docs": "Documents the endpoints of an API for those who call it.",
}


@pytest.fixture
def pool(tmp_path: Path) -> list[Skill]:
    for name, description in ENGLISH.items():
        put(tmp_path / "skills" / name, name, f'"{description}"')
    return registry(tmp_path).list_skills()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Write an email to a customer", "English"),
        ("Compare React and Vue", "English"),
        ("为这个服务写一份接口文档", "Chinese"),
        ("分析这条 Hacker News 讨论", "Chinese"),
        ("このワークフローをレビューして", "Japanese"),
        ("이 코드를 검토해 주세요", "Korean"),
        ("Schreibe eine Mail an unsere Kunden", "German"),
        ("Fehler prüfen", "German"),
        ("Verteidigung meiner Arbeit am 12., ich brauche Folien", "German"),
        ("Prépare le plan de lancement pour notre produit", "French"),
        ("Escribe un correo para los clientes", "Spanish"),
        ("Scrivi una mail per i nostri clienti", "Italian"),
        ("Escreva um relatório para os clientes", "Portuguese"),
        ("Schrijf een bericht voor onze klanten", "Dutch"),
        ("Напиши письмо клиенту", "Russian"),
        ("sales.csv", ""),
        ("42", ""),
        ("", ""),
    ],
)
def test_language_is_detected_by_script_and_function_words(text: str, expected: str) -> None:
    assert language(text) == expected


def test_languages_need_a_good_share_of_the_texts() -> None:
    assert languages(["Write a report.", "为这个服务写文档", "", "Compare the two."]) == ["English", "Chinese"]
    assert languages([*["Write a report."] * 9, "为这个服务写文档"]) == ["English"]


@pytest.mark.parametrize("goal", ["我们应该怎样给产品定价？", "Welche Preise sollen wir für unser Produkt nehmen?"])
def test_a_goal_in_another_language_is_detected(pool: list[Skill], goal: str) -> None:
    foreign_goal = RankedDetector().foreign(goal, pool)
    assert foreign_goal is not None
    assert foreign_goal.skills == "English"
    assert "the skills are described in English" in foreign_goal.note


@pytest.mark.parametrize("goal", ["How should we price our product?", "API", "42", "", "Pricing für the product tiers"])
def test_a_goal_in_the_words_of_the_skills_is_not_foreign(pool: list[Skill], goal: str) -> None:
    assert RankedDetector().foreign(goal, pool) is None
    assert RankedDetector().foreign(goal, []) is None


def test_chinese_skills_are_found_by_chinese_goals_among_english_ones(tmp_path: Path, pool: list[Skill]) -> None:
    put(tmp_path / "skills" / "reports", "reports", "撰写报告、翻译技术内容。")
    skills = registry(tmp_path).list_skills()
    detector = RankedDetector()
    familiar, strange = (detector.foreign(goal, skills) for goal in ("撰写技术报告", "我们应该怎样给产品定价？"))
    assert familiar is not None
    assert familiar.familiar
    assert strange is not None
    assert not strange.familiar
    assert [one.name for one in detector.detect("翻译这份技术内容", skills)] == ["reports"]


def test_two_rankings_are_merged_by_the_better_score(pool: list[Skill]) -> None:
    goal, ranked = "我们应该怎样给产品定价？API 文档的端点", RankedDetector()
    own = ranked.rank(goal, pool, 3)
    assert own[0].name == "api-docs"
    translated = TranslatedDetector(ranked, "product pricing tiers\ndocument the API")
    foreign_goal = translated.rank(goal, pool, 3)
    assert {one.name for one in foreign_goal[:2]} == {"pricing", "api-docs"}
    assert [one.score for one in foreign_goal] == sorted((one.score for one in foreign_goal), reverse=True)
    (pricing,) = (one for one in foreign_goal if one.name == "pricing")
    assert pricing.reason.startswith("by the goal's keywords in translation: words of the goal in its description: ")
    assert {one.name for one in translated.detect(goal, pool)} == {"pricing", "api-docs"}
    assert len(translated.rank(goal, pool, 1)) == 1


def test_a_skill_that_the_goal_names_stays_first(pool: list[Skill]) -> None:
    foreign_goal = TranslatedDetector(RankedDetector(), "product pricing tiers").detect("用 $api-docs 给产品定价", pool)
    assert [(one.name, one.score < 1) for one in foreign_goal] == [("api-docs", False), ("pricing", True)]
