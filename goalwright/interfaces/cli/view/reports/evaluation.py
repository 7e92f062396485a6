"""Prints the report of an evaluation: a table, the differences, and the cases that got worse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goalwright.interfaces.cli.view import output, whole_file
from goalwright_skills.errors import InputError
from goalwright_skills.text.formatting import counted, dollars, plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_COLUMNS = (18, 10, 10)
_MOST = 20
_MINUS = "−"


def print_report(document: Mapping[str, Any], *, verbose: bool = False) -> None:
    """Print the report of `--json` as text; with `verbose`, every failed check."""
    output.print_lines(_table(document))
    failed = [row for row in document["rows"] if row["passed"] is False]
    worse = [line for difference in document["differences"] for line in _worse(document, difference)]
    output.print_lines(worse)
    shown = failed if verbose else failed[:_MOST] if not document["differences"] else []
    output.print_lines(f"{_label(row)}: {_first_failed(row)} (run {row['run_id']})" for row in shown)
    if len(shown) < len(failed) and not document["differences"]:
        output.print_text(f"{len(failed) - len(shown)} more did not pass; -v lists them")
    if (judge := document.get("judge")) is not None:
        cost = "" if judge["cost_usd"] is None else f", {dollars(judge['cost_usd'])}"
        output.say(f"judged by {judge['model']}: {counted(judge['calls'], 'new call')}{cost}")
    runs = counted(len(document["rows"]), "run")
    output.say(f"evaluation {document['eval_id']}: {counted(document['cases'], 'case')}, {runs}")


def write_page(document: Mapping[str, Any], path: Path) -> None:
    """Write a report as one HTML file."""
    from goalwright.evaluation.html_page import page

    try:
        whole_file.write(path, page(document))
    except OSError as error:
        raise InputError(f"the page {path} cannot be written: {error.strerror}", hint="name another file") from error


def _table(document: Mapping[str, Any]) -> Iterator[str]:
    variants, differences = document["variants"], document["differences"]
    names = [variant["name"] for variant in variants] + [_difference_name(difference) for difference in differences]
    width = max(map(len, names), default=0) + 2
    rate, cost, seconds = _COLUMNS
    yield f"{'':<{width}}{'pass rate':<{rate}}{'cost':<{cost}}{'seconds':<{seconds}}calls".rstrip()
    for variant in variants:
        spent = "–" if variant["cost_usd"] is None else f"${plain(variant['cost_usd'], 4)}"
        seconds_text = "–" if variant["seconds"] is None else f"{variant['seconds']:.3g} s"
        calls = "–" if variant["calls"] is None else f"{variant['calls']:.1f}"
        yield f"{variant['name']:<{width}}{_rate(variant):<{rate}}{spent:<{cost - 1}} {seconds_text:<{seconds}}{calls}"
    for difference in differences:
        yield f"{_difference_name(difference):<{width}}{_difference(document, difference)}"


def _difference_name(difference: Mapping[str, Any]) -> str:
    return f"{difference['variant']} {_MINUS} {difference['against']}"


def _rate(variant: Mapping[str, Any]) -> str:
    if variant["pass_rate"] is None:
        return "no checks"
    return f"{_share(variant['pass_rate'])} ({_share(variant['low'])}–{_share(variant['high'])})"


def _difference(document: Mapping[str, Any], difference: Mapping[str, Any]) -> str:
    better, worse = len(difference["better"]), len(difference["worse"])
    parts = []
    if difference["mean"] is not None:
        before, after = (_checked(document, difference[key]) for key in ("against", "variant"))
        low, high = _signed(difference["low"]), _signed(difference["high"])
        counts = f"{counted(better, 'case')} better, {worse} worse, {len(before & after) - better - worse} the same"
        parts.append(f"{_signed(difference['mean'])} ({low}–{high}) {difference['verdict']}: {counts}")
        if difference["verdict"] == "no difference shown" and difference["needed_cases"]:
            parts.append(f"about {counted(difference['needed_cases'], 'more case')} would show a difference this large")
    if (pairs := difference.get("pairwise")) is not None:
        parts.append(f"the judge prefers it {pairs['better']} to {pairs['worse']}, with {counted(pairs['tie'], 'tie')}")
    return "; ".join(parts) or "no checks to compare by"


def _checked(document: Mapping[str, Any], variant: str) -> set[str]:
    """Return the cases that have a checked run with a variant."""
    return {row["case"] for row in document["rows"] if row["variant"] == variant and row["passed"] is not None}


def _worse(document: Mapping[str, Any], difference: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each case that got worse: the first failed check, and the two runs."""
    for case in difference["worse"]:
        rows = [row for row in document["rows"] if row["case"] == case]
        after = next((row for row in rows if row["variant"] == difference["variant"] and row["passed"] is False), None)
        before = next((row for row in rows if row["variant"] == difference["against"] and row["passed"]), None)
        runs = ", ".join(f"{row['variant']}: {row['run_id']}" for row in (before, after) if row is not None)
        yield f"worse: {case}: {_first_failed(after) if after else ''} ({runs})"


def _first_failed(row: Mapping[str, Any]) -> str:
    failed = next((check for check in row["checks"] if not check["passed"]), None)
    return f"{failed['check']}: {failed['evidence']}" if failed else ""


def _label(row: Mapping[str, Any]) -> str:
    return f"{row['case']}, {row['variant']}, run {row['repeat']}"


def _share(value: float) -> str:
    return "1.0" if value >= 0.995 else f"{value:.2f}".removeprefix("0")


def _signed(value: float) -> str:
    return f"{'+' if value >= 0 else _MINUS}{_share(abs(value))}"
