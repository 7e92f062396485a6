"""Terms found by the hash table of an index."""

from __future__ import annotations

from array import array
from itertools import accumulate
from zlib import crc32

import pytest

from goalwright_skills.selection.index.term_table import TermTable, found_in, slots_of, spelled


def table_of(words: list[str], slots: bytes | None = None) -> TermTable:
    written = [spelled(word)[0] for word in words]
    bounds = array("I", accumulate(map(len, written), initial=0))
    made = slots if slots is not None else slots_of(written)
    return TermTable(
        memoryview(b"".join(written)), memoryview(bytes(bounds)).cast("I"), memoryview(made).cast("B").cast("I")
    )


@pytest.mark.parametrize("count", [0, 1, 3, 4, 5_000])
def test_all_terms_and_no_others_are_found(count: int) -> None:
    words = sorted(f"term{number}" for number in range(count))
    table = table_of(words)
    assert [table.find(*spelled(word)) for word in words] == list(range(count))
    assert all(table.find(*spelled(f"other{number}")) is None for number in range(200))


def test_terms_of_any_script_are_found() -> None:
    words = sorted(["c++", "größe", "数据", "\ud800"])
    table = table_of(words)
    assert [table.find(*spelled(word)) for word in words] == [0, 1, 2, 3]


def test_terms_in_the_same_slot_are_distinguished() -> None:
    same = [f"w{number}" for number in range(200) if crc32(f"w{number}".encode()) & 15 == 7][:5]
    table = table_of(same)
    assert [table.find(*spelled(word)) for word in same] == [0, 1, 2, 3, 4]
    assert table.find(b"w-none", 7) is None


def test_terms_of_the_same_hash_are_distinguished_by_text() -> None:
    table = table_of(["a"])
    assert table.find(b"b", spelled("a")[1]) is None


def test_lookups_end_in_a_full_table() -> None:
    full = bytes(array("I", [1] * 8))
    assert table_of(["a"], full).find(b"b", 3) is None


@pytest.mark.parametrize("slots", [b"", bytes(4), bytes(4 * 12)])
def test_a_size_other_than_a_power_of_two_is_rejected(slots: bytes) -> None:
    with pytest.raises(ValueError, match="power of two"):
        table_of(["a"], slots)


def test_a_term_is_found_in_several_indexes() -> None:
    tables = [table_of(["apple", "pear"]), table_of([]), table_of(["fig", "kiwi", "pear"])]
    assert found_in(tables, *spelled("pear")) == {0: 1, 2: 2}
    assert found_in(tables, *spelled("plum")) == {}
