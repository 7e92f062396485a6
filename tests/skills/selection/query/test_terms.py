"""Texts as comparable terms."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goalwright_skills.selection.query.terms import _STEMS, _stemmer, fold, spelled, terms


def test_inflections_and_scripts_share_terms() -> None:
    assert len({terms(word)[0] for word in ("document", "documents", "documentation", "documented")}) == 1
    assert terms("PDFs and SDKs, not CSS or DNS") == ["pdf", "sdk", "css", "dns"]
    assert terms("API") == terms("APIs") == terms("API's")
    assert terms("報告寫作") == terms("报告写作") == ["报告", "告写", "写作"]
    assert terms("データ分析") == ["デー", "ータ", "タ分", "分析"]
    assert terms("보고서") == ["보고", "고서"]
    assert terms("C# and c++ code") == ["c#", "c++", "code"]
    assert fold("ＦＵＬＬ　Width") == "full width"
    assert spelled("Deploying pods") == {"deploy": "deploying", "pod": "pods"}


@given(st.text(st.characters(max_codepoint=127)))
def test_terms_and_spelled_agree(text: str) -> None:
    assert list(spelled(text)) == list(dict.fromkeys(terms(text)))
    assert all(terms(word) == [term] for term, word in spelled(text).items())


@given(st.integers(min_value=0))
def test_numbers_are_not_stemmed(number: int) -> None:
    assert terms(str(number)) == [str(number)[:40]]
    assert _stemmer().stemWord(str(number)) == str(number)


@pytest.mark.slow
def test_stemming_is_thread_safe() -> None:
    words = [f"{first}{second}ations" for first in ("document", "observ", "form", "present") for second in "abcdefgh"]
    alone = {word: list(spelled(word)) for word in words}
    _STEMS.clear()

    def all_of_them(_: int) -> bool:
        _STEMS.clear()
        return all(list(spelled(word)) == alone[word] for word in words)

    pause = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            assert all(threads.map(all_of_them, range(200)))
    finally:
        sys.setswitchinterval(pause)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("summarise", "summarize"),
        ("optimisations", "optimization"),
        ("analysing", "analysis"),
        ("analyse", "analyze"),
        ("behavioural", "behavior"),
        ("colours", "color"),
        ("cataloguing", "cataloging"),
    ],
)
def test_british_and_american_spellings_share_a_term(one: str, other: str) -> None:
    assert terms(one) == terms(other)


def test_similar_words_keep_different_terms() -> None:
    assert terms("four hours of noise in a contour") == ["four", "hour", "nois", "contor"]
