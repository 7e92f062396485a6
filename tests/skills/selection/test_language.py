"""Which goals are in another language than the skills, and how two rankings become one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skills.selection.detector import Selection
from skills.selection.language import language, languages, merged
from skills.selection.ranked import RankedDetector
from tests.skills.tree import put, registry

if TYPE_CHECKING:
    from pathlib import Path

    from skills.skill import Skill

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
def test_script_and_function_words_tell_the_language(text: str, expected: str) -> None:
    assert language(text) == expected


def test_the_languages_of_texts_are_those_of_a_good_part_of_them() -> None:
    assert languages(["Write a report.", "为这个服务写文档", "", "Compare the two."]) == ["English", "Chinese"]
    assert languages([*["Write a report."] * 9, "为这个服务写文档"]) == ["English"]


@pytest.mark.parametrize("goal", ["我们应该怎样给产品定价？", "Welche Preise sollen wir für unser Produkt nehmen?"])
def test_a_goal_in_another_language_than_the_skills_is_told(pool: list[Skill], goal: str) -> None:
    found = RankedDetector().foreign(goal, pool)
    assert found is not None
    assert found.skills == "English"
    assert "the skills are described in English" in str(found)


@pytest.mark.parametrize("goal", ["How should we price our product?", "API", "42", "", "Pricing für the product tiers"])
def test_a_goal_in_the_words_of_the_skills_is_not_foreign(pool: list[Skill], goal: str) -> None:
    assert RankedDetector().foreign(goal, pool) is None
    assert RankedDetector().foreign(goal, []) is None


def test_chinese_skills_are_found_by_chinese_goals_among_english_ones(tmp_path: Path, pool: list[Skill]) -> None:
    put(tmp_path / "skills" / "reports", "reports", "撰写报告、翻译技术内容。")
    skills = registry(tmp_path).list_skills()
    detector = RankedDetector()
    assert detector.foreign("撰写技术报告", skills) is None
    assert detector.foreign("我们应该怎样给产品定价？", skills) is not None
    assert [one.name for one in detector.detect("翻译这份技术内容", skills)] == ["reports"]


def test_two_rankings_become_one_by_the_better_score(pool: list[Skill]) -> None:
    own = [Selection("a", 1.0, "named"), Selection("b", 0.4, "b's words"), Selection("c", 0.3, "c's words")]
    keywords = [Selection("c", 0.8, "price"), Selection("b", 0.2, "mail"), Selection("d", 0.3, "tier")]
    found = merged(own, keywords)
    assert [(one.name, one.score) for one in found] == [("a", 1.0), ("c", 0.8), ("b", 0.4), ("d", 0.3)]
    assert found[1].reason == "by the goal's English keywords: price"
    assert found[2].reason == "b's words"
    assert [one.name for one in merged(own, keywords, 2)] == ["a", "c"]
    assert merged([], []) == []
    detector = RankedDetector()
    goal, asked = "我们应该怎样给产品定价？", "pricing product tiers"
    assert detector.detect(goal, pool) == []
    assert merged(detector.detect(goal, pool), detector.detect(asked, pool))[0].name == "pricing"
