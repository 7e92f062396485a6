"""A cached value is read once for all callers within its lifetime."""

from __future__ import annotations

from itertools import count

from goalwright.interfaces.web.changes import Recent


def test_a_value_is_read_once_within_its_lifetime() -> None:
    cached, expired = Recent(count().__next__, 3600), Recent(count().__next__, 0)
    assert [cached(), cached(), cached()] == [0, 0, 0]
    assert [expired(), expired(), expired()] == [0, 1, 2]
