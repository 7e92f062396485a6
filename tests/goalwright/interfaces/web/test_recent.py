"""One reading serves all who ask within some seconds."""

from __future__ import annotations

from itertools import count

from goalwright.interfaces.web.live.recent import Recent


def test_a_value_is_read_once_for_all_who_ask_in_time() -> None:
    kept, old = Recent(count().__next__, 3600), Recent(count().__next__, 0)
    assert [kept(), kept(), kept()] == [0, 0, 0]
    assert [old(), old(), old()] == [0, 1, 2]
