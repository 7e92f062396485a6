"""The only skill in a language is found by goals that are for it, not by every goal in that language."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from goalwright_skills.selection.encoder import Table
from goalwright_skills.selection.ranked import RankedDetector
from goalwright_skills.selection.ranking.bm25 import UNKNOWN, rarity_shares
from goalwright_skills.selection.ranking.signals import FULL_LEAD, leading
from tests.skills.tree import library, put, read_skills, registry

if TYPE_CHECKING:
    from goalwright_skills.skill import Skill

DATA = Path(__file__).parents[3] / "data" / "only-skill-in-language"
ENGLISH = {
    "pricing": "Decides what a product should cost: plans, tiers, free trials and discounts.",
    "seo-audit": "Finds out why a site lost its traffic from search engines.",
    "postmortem": "Writes up an incident without blame: what happened, why, and what to change.",
    "sql-tuning": "Makes slow SQL queries faster with indexes.",
    "onboarding": "Plans the first days of new users of an app.",
    "spreadsheets": "Makes Excel workbooks with formulas, sheets and charts.",
}
# Goals that share ordinary words with the only skill in their language, and nothing of what it is for.
OTHERS = {
    "chinese-writing": ["这条 MySQL 查询要跑二十秒，怎么加索引", "我录了十五个客户访谈，帮我归纳他们为什么购买"],
    "lieferantenbewertung": [
        "Erstelle einen Marketingplan für zwölf Monate mit 90.000 Euro Budget",
        "Füge die drei PDFs zusammen und versieh sie mit einem Passwort",
    ],
    "inventarizaciya": [
        "На сервере с Debian apt завис на полуслове, теперь ничего не ставится",
        "Составь список вещей для похода на три дня с детьми",
    ],
    "ringisho": ["このクエリが遅いのでインデックスを見直したい", "祖母の誕生日に贈る短い手紙を書いてください"],
    "hyeonjang-ilji": [
        "실수로 동료의 커밋을 덮어썼어, 되돌릴 수 있을까",
        "검색 유입이 절반으로 줄었는데 원인을 찾아 줘",
    ],
    "munaqasat": [
        "أريد أن أعرف لماذا انخفضت الزيارات القادمة من البحث إلى النصف",
        "كيف أكتب اختبارات مع تجهيزات مسبقة",
    ],
    "diario-de-obra": [
        "¿Cuánto deberíamos cobrar por nuestra aplicación y cuántos planes ofrecer?",
        "Necesito una lista de cincuenta talleres mecánicos de Valencia con el teléfono del dueño",
    ],
    "etat-des-lieux": [
        "Prépare douze publications pour LinkedIn et Instagram, avec un calendrier",
        "Simule la file d'attente de la cantine avec deux ou trois caisses",
    ],
}
OWN = {
    "chinese-writing": "把这份实验结果整理成一篇中文报告",
    "lieferantenbewertung": "Bewerte unsere Lieferanten nach Termintreue und Reklamationen",
    "inventarizaciya": "Составь акт инвентаризации по листу подсчёта и остаткам из учёта",
    "ringisho": "新しいプリンターを買うための稟議書を書いてください",
    "hyeonjang-ilji": "오늘 현장 안전 점검 일지를 작성해 주세요",
    "munaqasat": "قارن بين عروض المناقصة الثلاثة واكتب توصية للجنة",
    "diario-de-obra": "Haz el parte de hoy de la obra con estas notas y fotos",
    "etat-des-lieux": "Rédige l'état des lieux de sortie à partir de mes photos",
}


@pytest.fixture
def pool(tmp_path: Path) -> list[Skill]:
    for name, description in ENGLISH.items():
        put(tmp_path / "skills" / name, name, f'"{description}"', f"# {name}\n\nSteps.\n")
    return [*registry(tmp_path).list_skills(), *library(), *read_skills(DATA)]


@pytest.mark.parametrize("name", OTHERS)
def test_the_only_skill_in_a_language_does_not_attract_other_goals(name: str, pool: list[Skill]) -> None:
    finder = RankedDetector()
    for goal in OTHERS[name]:
        assert name not in [one.name for one in finder.detect(goal, pool)], goal


@pytest.mark.parametrize("name", OWN)
def test_the_only_skill_in_a_language_is_found_by_a_goal_for_it(name: str, pool: list[Skill]) -> None:
    assert name in [one.name for one in RankedDetector().detect(OWN[name], pool)]


def test_a_weak_match_in_the_only_language_leads_little(pool: list[Skill]) -> None:
    goal = "Eine Folge von fünf Willkommensmails für neue Abonnenten, verteilt auf zwei Wochen"
    shares = {one.name: one for one in RankedDetector().explain(goal, pool, 30).candidates}
    assert shares["lieferantenbewertung"].parts[0].signals["lead"] < 2.0


def test_common_words_have_small_rarity_shares() -> None:
    words = {word: word for word in ("und", "der", "für", "bericht", "可以", "翻译", "как", "отчет", "kubernetes")}
    shares = rarity_shares(words, Table.shipped(), foreign=True)
    assert {word for word in words if shares.get(word, 1.0) < 0.1} == {"und", "der", "für", "可以", "как"}
    assert all(shares.get(word, 1.0) > 0.8 for word in ("bericht", "翻译", "kubernetes"))
    assert shares.get("отчет", 1.0) > 0.7


def test_words_in_unknown_scripts_count_partly() -> None:
    assert rarity_shares({"안전": "안전"}, Table.shipped(), foreign=True) == {"안전": UNKNOWN}


def test_all_words_count_in_full_without_an_encoder() -> None:
    assert rarity_shares({"und": "und"}, None, foreign=True) == {}


def test_a_weak_best_score_leads_only_partly() -> None:
    assert leading(FULL_LEAD, 1.0, 1.0) == leading(2 * FULL_LEAD, 1.0, 1.0) == 1.0
    assert leading(FULL_LEAD / 4, 1.0, 1.0) == 0.25
    assert leading(0.0, 0.0, 1.0) == 0.0
