from __future__ import annotations

import hashlib
import json
import math
import random
from pathlib import Path

import pytest

from goalwright_skills.errors import SetupError
from goalwright_skills.selection.encoder import Table
from goalwright_skills.selection.encoder.table import SHIPPED, UNIT
from goalwright_skills.selection.encoder.tokens import Tokens
from tests.skills.encoder_table import LARGEST_SCALE, table_bytes

WORDS = ["make", "chart", "表", "##s", "zebra", "é"]
SCALES = [1.0, 0.5, 0.002, 0.25, 0.75, 0.1]
ROWS = [bytes(random.Random(place).randrange(1, 256) for _ in range(16)) for place in range(len(WORDS))]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "table.bin"
    path.write_bytes(table_bytes("test", WORDS, SCALES, ROWS))
    return path


def plain_sum(places: list[int]) -> list[float]:
    values = [sum(SCALES[place] * (ROWS[place][at] - 128) for place in places) for at in range(16)]
    length = math.sqrt(sum(value * value for value in values))
    return [value / length for value in values]


@pytest.mark.parametrize(
    ("text", "places"),
    [("Make a chart", [0, 1]), ("charts", [1, 3]), ("表 zebra " * 128, [2, 4] * 128), ("make " * 300, [0] * 256)],
)
def test_vectors_are_sums_of_scaled_rows(file: Path, text: str, places: list[int]) -> None:
    assert Table.open(file).vector(text) == pytest.approx(plain_sum(places), abs=1e-4)


def test_the_largest_sum_fits_its_lanes(tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(table_bytes("test", ["make"], [1], [b"\xff\x00" * 4]))
    vector = Table.open(tmp_path / "t").vector("make " * 300, limit=1000)
    assert vector[0] / vector[1] == pytest.approx(127 / -128)


def test_scales_are_relative_to_the_largest_and_clipped(tmp_path: Path) -> None:
    row = bytes([128 + 3, 128 + 4, 128, 128])
    (tmp_path / "t").write_bytes(
        table_bytes("test", ["half", "whole", "more"], [1.0, 2.0, 3.0], [row] * 3, largest=2.0)
    )
    weights = [Table.open(tmp_path / "t").weight(word) or 0.0 for word in ("half", "whole", "more")]
    assert weights == pytest.approx([5 * share * LARGEST_SCALE / UNIT for share in (0.5, 1.0, 1.0)], rel=1e-4)


def test_a_text_without_known_words_has_no_vector(file: Path) -> None:
    assert Table.open(file).vector("qqq 123 🎉") == []
    assert Table.open(file).vector("") == []


def test_vectors_have_length_one_and_the_table_a_name(file: Path) -> None:
    table = Table.open(file)
    assert math.hypot(*table.vector("make charts")) == pytest.approx(1)
    assert table.dimensions == 16
    assert table.name.startswith("test-")
    assert len(table) == len(WORDS)


def test_tokens_after_the_limit_are_ignored(file: Path) -> None:
    assert Table.open(file).vector("make chart zebra", limit=1) == pytest.approx(plain_sum([0]), abs=1e-4)


def test_bisection_finds_the_same_longest_pieces_as_brute_force() -> None:
    table, each = Table.shipped(), Tokens(Table.shipped()._find)
    random_letters, made = random.Random(3), random.Random(4)
    words = ["".join(random_letters.choices("aeinrst0éß", k=made.randrange(1, 40))) for _ in range(300)]
    for word in (*words, "reindexing", "kubernetes", "überprüfen", "##s", "表格数据"):
        assert table._tokens.of_word(word) == each.of_word(word), word


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"none\.bin"):
        Table.open(tmp_path / "none.bin")


def test_truncated_files_are_rejected(file: Path, tmp_path: Path) -> None:
    whole = file.read_bytes()
    for size in range(0, len(whole), 7):
        (tmp_path / "cut").write_bytes(whole[:size])
        with pytest.raises(SetupError, match="table"):
            Table.open(tmp_path / "cut")


HEAD = {"version": 1, "name": "x", "checksum": "y", "dimensions": 16, "sections": {}}


@pytest.mark.parametrize(
    "head",
    [
        [],
        7,
        {},
        {**HEAD, "version": 99},
        {**HEAD, "dimensions": -1},
        {**HEAD, "dimensions": 10**9},
        {**HEAD, "dimensions": "16"},
        {**HEAD, "checksum": 3},
        {**HEAD, "sections": {"words": [0, 10**9]}},
        {**HEAD, "sections": {"words": [-5, 3]}},
        {**HEAD, "sections": {"words": "ab"}},
        {**HEAD, "sections": {name: [0, 16] for name in ("words", "bounds", "scales", "rows")}},
        {**HEAD, "sections": {name: [0, 3] for name in ("words", "bounds", "scales", "rows")}},
    ],
)
def test_hostile_heads_are_rejected(tmp_path: Path, head: object) -> None:
    text = json.dumps(head).encode()
    (tmp_path / "t").write_bytes(len(text).to_bytes(8, "little") + text)
    with pytest.raises(SetupError, match="not an encoder's table"):
        Table.open(tmp_path / "t")


def test_corrupt_bounds_raise_no_error(file: Path) -> None:
    whole = table_bytes("test", WORDS, SCALES, ROWS)
    start, end = json.loads(whole[8 : whole.index(b"}}") + 2])["sections"]["bounds"]
    file.write_bytes(whole[:start] + b"\xff" * (end - start) + whole[end:])
    assert Table.open(file).vector("make chart") == []


def test_everyday_talk_is_scored_by_dimension_weights(tmp_path: Path) -> None:
    path = tmp_path / "table.bin"
    weights = [2.0, *[0.0] * (len(ROWS[0]) - 1), -1.0]
    path.write_bytes(table_bytes("test", WORDS, SCALES, ROWS, everyday=weights))
    table = Table.open(path)
    assert table.everyday([0.5] * table.dimensions) == 0.0
    assert table.everyday([]) == 0.0, "a text without known words is not told"


def test_weights_for_other_dimensions_are_rejected(tmp_path: Path) -> None:
    path = tmp_path / "table.bin"
    path.write_bytes(table_bytes("test", WORDS, SCALES, ROWS, everyday=[1.0]))
    with pytest.raises(SetupError, match="1 weights of everyday talk"):
        Table.open(path)


def test_the_shipped_table_matches_its_checksum_and_its_page() -> None:
    data = SHIPPED.read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    sections = b"".join(data[start:end] for start, end in header["sections"].values())
    assert hashlib.sha256(sections).hexdigest() == header["checksum"]
    page = (Path(__file__).parents[4] / "docs" / "skill-selection.md").read_text(encoding="utf-8")
    assert header["checksum"][:12] in page
    assert len(Table.shipped().vector("给销售数据做一张图")) == 128
