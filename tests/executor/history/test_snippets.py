"""Search snippets mark the matched words in a short excerpt of a run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from goalwright_executor.history.snippets import snippet
from goalwright_executor.stores.sqlite.store import SqliteStore
from tests.executor.stores.runs import line, row

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from goalwright_executor.stores.store import Store

TASKS = [
    {"id": "scan", "title": "Scan the market", "action_type": "llm"},
    {"id": "scan[1]", "title": "", "action_type": "llm", "item": {"value": "Insurers"}},
]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = SqliteStore(tmp_path / "journal.sqlite")
    yield opened
    opened.close()


def shown(store: Store, search: str, answer: str = "", **more: Any) -> tuple[str, str] | None:
    """Return where the text was found, and the excerpt with matches in brackets."""
    run = replace(line("r1"), goal="Compare caches", tags=("baseline",))
    rows = [
        row("r1", 1, "plan_made", plan={"tasks": TASKS}, attempts=1),
        row("r1", 2, "task_finished", task="scan", status="failed", error="refused by the provider"),
        row("r1", 3, "run_finished", status="done", answer=answer, **more),
    ]
    store.append(rows, {"r1": run})
    found = snippet(store, run, search, lambda text: text.replace("⟦workspace⟧", "/home/ada/notes"))
    return found and (found.where, "".join(f"[{part.text}]" if part.is_match else part.text for part in found.parts))


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("laten", ("answer", "The [Latency] is low.")),
        ("LOW latency", ("answer", "The [Latency] is [low].")),
        ("caches latency", ("answer", "The [Latency] is low.")),
        ('"is low"', ("answer", "The Latency [is low].")),
        ("timeout", ("error", "[timeout] after 3 s")),
        ("insurers", ("task", "[Insurers]")),
        ("refused", ("error of a task", "[refused] by the provider")),
        ("caches", None),
        ("baseline", None),
        ("nowhere", None),
        ("", None),
        ("!?", None),
    ],
)
def test_matches_are_marked_with_the_name_of_their_text(
    store: Store, search: str, found: tuple[str, str] | None
) -> None:
    assert shown(store, search, "The Latency is low.", error="timeout after 3 s") == found


def test_accents_case_and_unspaced_scripts_match_and_are_shown_unchanged(store: Store) -> None:
    assert shown(store, "cafe", "Im CAF\u00c9, um drei.") == ("answer", "Im [CAF\u00c9], um drei.")
    assert snippet_of(store, "e\u0301te", "l'\u00e9t\u00e9") == ("answer", "l'[\u00e9t\u00e9]")
    assert snippet_of(store, "规模", "市场规模为三亿。") == ("answer", "市场[规模]为三亿。")


def snippet_of(store: Store, search: str, answer: str) -> tuple[str, str] | None:
    store.delete(["r1"])
    return shown(store, search, answer)


def test_an_excerpt_of_a_long_text_is_one_short_line(store: Store) -> None:
    text = "word " * 5_000 + "the\nneedle\tis here " + "more " * 1_000
    found = shown(store, "needle", text)
    assert found is not None
    assert "the [needle] is here" in found[1]
    assert found[1].startswith("…word ")
    assert found[1].endswith("…")
    assert len(found[1]) < 220
    assert "\n" not in found[1]


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("## Result\n\nThe **latency** is `low`.", "Result The [latency] is low."),
        ("- [x] __latency__: *0.7 ms*\n- memory", "• [latency]: 0.7 ms • memory"),
        ("| measure | value |\n|:---|--:|\n| latency | 0.7 ms |", "measure · value [latency] · 0.7 ms"),
        ("> See [the **latency**](https://example.com/x) first", "See the [latency] first"),
        ("```python\nlatency = f(**options) * 2\n```", "[latency] = f(**options) * 2"),
        ("a_latency_b and 2 * 3 * latency", "a_[latency]_b and 2 * 3 * [latency]"),
        ("See [there](https://example.com/latency)", "See [there](https://example.com/[latency])"),
    ],
)
def test_an_excerpt_has_no_markdown(store: Store, answer: str, found: str) -> None:
    assert shown(store, "latency", answer) == ("answer", found)


def test_texts_full_of_markdown_are_searched_quickly(store: Store) -> None:
    for text in ("*" * 40_000, "[" * 40_000, "`" * 39_000 + " latency", "| " * 20_000, "_a " * 13_000, "> " * 20_000):
        snippet_of(store, "latency", text)


@pytest.mark.parametrize(
    ("search", "found"), [("report", ("answer", "see /home/ada/notes/[report].md")), ("workspace", None)]
)
def test_recorded_paths_are_shown_as_local_paths(store: Store, search: str, found: tuple[str, str] | None) -> None:
    assert shown(store, search, "see ⟦workspace⟧/report.md") == found


def test_an_endless_word_is_cut(store: Store) -> None:
    found = shown(store, "aaa", "a" * 30_000)
    assert found is not None
    assert len(found[1]) < 220


def test_a_malformed_record_has_no_snippet(store: Store) -> None:
    run = line("r1")
    store.append([row("r1", 1, "run_finished", answer=[3], status=4), row("r1", 2, "plan_made", plan="x")], {"r1": run})
    assert snippet(store, run, "something", str) is None
