"""The shared code of the benchmarks: figures, ratios, the page and the plots. CI runs the benchmarks themselves."""

from __future__ import annotations

import ast
import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from bench.crash import repaid_calls
from bench.harness import command, page, plot
from bench.harness.graphs import chain, critical_path, durations, fan, layered
from bench.harness.result import Aim, Benchmark, Column, Findings, Measured, Options, Table, cells
from bench.harness.text import render
from bench.harness.timing import growth_exponent, median_ratio
from bench.peers.paid_calls import GRAPH, expected

BENCH = Path(__file__).parent.parent / "bench"


def table() -> Table:
    rows = {"bare": cells([1.0, 2.0, 3.0]), "goalwright": cells([4.0, 5.0, 6.0]), "<peer>": cells("not within 60 s")}
    return Table("A task", (Column("chain", "µs", ratio=True),), rows, "bare")


def measured(aim: Aim) -> Measured:
    benchmark = Benchmark("sample", "A sample.", "Nothing.", (), lambda _: Findings((table(),), (aim,)))
    return command.measure(benchmark, Options())


@pytest.mark.parametrize("name", command.NAMES)
def test_every_benchmark_documents_its_floor_and_command(name: str) -> None:
    text = ast.get_docstring(ast.parse((BENCH / f"{name}.py").read_text(encoding="utf-8"))) or ""
    assert "Floor: " in text
    assert f"python -m bench.{name}" in text


def test_every_benchmark_is_listed() -> None:
    modules = {path.stem for path in BENCH.glob("*.py") if "\nBENCHMARK = " in path.read_text(encoding="utf-8")}
    assert modules == set(command.NAMES)


def test_an_unknown_name_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["engin"]) == 2
    assert "benchmarks are: startup, engine" in capsys.readouterr().err


def test_ratios_compare_each_round_with_its_own_floor() -> None:
    assert median_ratio([2.0, 40.0, 6.0], [1.0, 20.0, 2.0]) == 2.0
    assert table().ratio("goalwright", 0) == 2.5
    assert table().ratio("bare", 0) is None
    assert table().ratio("<peer>", 0) is None


def test_an_exponent_is_the_slope_on_logarithmic_axes() -> None:
    assert growth_exponent([10, 100, 1000], [3.0, 300.0, 30_000.0]) == pytest.approx(2.0)


def test_a_quick_run_judges_counts_but_no_time() -> None:
    slow, lost = Aim("time", 9.0, 1.0), Aim("lost", 1.0, 0.0, is_count=True)
    assert measured(slow).holds(quick=True)
    assert not measured(slow).holds(quick=False)
    assert not measured(lost).holds(quick=True)
    assert "missed" not in render(measured(slow), quick=True)


def test_the_page_is_written_from_all_saved_figures(tmp_path: Path) -> None:
    aim = Aim("goalwright over bare", 2.5, 2.0, reason="it does more")
    for name in ("one", "two"):
        found = measured(aim).to_dict() | {"name": name, "measured": {"commit": "abc"}}
        page.save(json.loads(json.dumps(found)), tmp_path / "benchmarks")
    written = page.write(("two", "three"), tmp_path / "benchmarks.md", tmp_path / "benchmarks").read_text(
        encoding="utf-8"
    )
    assert written.index("## two") < written.index("## one")
    assert "| goalwright | 5 · 2.5x |" in written
    assert "0 of 2 aims are met." in written
    assert "≤ 2 | it does more |" in written
    assert "not within 60 s" in written
    assert "Not measured yet: `three`." in written


def test_a_plot_is_well_formed_and_shows_every_subject() -> None:
    drawn = ElementTree.fromstring(plot.svg(measured(Aim("a", 1, 1)).to_dict()))  # noqa: S314 - our own
    texts = [text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert {"bare", "goalwright", "<peer>", "not within 60 s"} <= set(texts)


def test_durations_are_whole_milliseconds_with_the_requested_critical_path() -> None:
    for graph in (chain(50), fan(50), layered(5, 20)):
        for spread in ("uniform", "log-normal"):
            lengths = durations(graph, spread, 2.0)
            assert critical_path(graph, lengths) == pytest.approx(2.0, abs=0.03)
            assert all(round(length * 1000) == pytest.approx(length * 1000) for length in lengths.values())


def test_repeated_calls_count_unless_they_were_in_flight() -> None:
    first, second = "t0-0", next(name for name, before in GRAPH.items() if "t0-0" in before)

    def line(attempt: int, task: str, what: str) -> str:
        return json.dumps({"run": 0, "attempt": attempt, "task": task, "what": what})

    before = [line(1, first, "begun"), line(1, first, "answered")]
    assert repaid_calls([*before, line(1, second, "begun"), line(2, second, "begun")]) == (0, 0)
    assert repaid_calls([*before, line(2, first, "begun")]) == (1, 0)
    assert repaid_calls([*before, line(1, second, "begun"), line(2, first, "begun")]) == (1, 1)
    assert len(set(expected().values())) == len(GRAPH)
