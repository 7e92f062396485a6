from __future__ import annotations

import re

import pytest

from goalwright_skills.selection.encoder.tokens import Tokens, fold
from tests.growth import growth

ENTRIES = re.findall(
    r"\S+", "make chart uber strasse cafe 电子 表格 子 制 データ c++ c don re ##chart ##s s3 heure ж ##у"
)


def spelled(text: str, limit: int = 256) -> list[str]:
    numbers = {entry: number for number, entry in enumerate(ENTRIES)}
    return [ENTRIES[number] for number in Tokens(numbers.get).of(text, limit)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Make a CHART", ["make", "chart"]),
        ("Über, Straße; café", ["uber", "strasse", "cafe"]),
        ("cafe\u0301", ["cafe"]),
        ("電子表格 制", ["电子", "表格", "制"]),
        ("电子X子表", ["电子", "子"]),
        ("データ", ["データ"]),
        ("recharts", ["re", "##chart", "##s"]),
        ("1, 2, 2026: s3", ["s3"]),
        ("C++ c# C", ["c++", "c", "c"]),
        ("don't, l’heure, chart's", ["don", "heure", "chart"]),
        ("жу 🎉 \ud800 make\udfff", ["ж", "##у", "make"]),
        ("", []),
        ("___ --- ١٢٣", []),
    ],
)
def test_text_is_split_into_words_pieces_and_runs(text: str, expected: list[str]) -> None:
    assert spelled(text) == expected


def test_voiced_kana_keep_their_marks() -> None:
    assert fold("データが") == "データが"


def test_the_first_tokens_up_to_the_limit_are_kept() -> None:
    assert spelled("make chart " * 10, limit=3) == ["make", "chart", "make"]


@pytest.mark.parametrize("text", ["make ", "a", "电", "\u0301", "é"])
def test_long_text_is_cut_before_it_is_folded(text: str) -> None:
    def read(length: int) -> None:
        assert len(spelled(text * (length // len(text)))) <= 256

    assert growth(read, 50_000, 1_000_000) < 0.7
