"""A report as one HTML file without scripts or external resources: variants as columns, cases as rows."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from goalwright_skills.text.formatting import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #1a1a1a; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; }
th, td { border-bottom: 1px solid #ddd; padding: .35rem .6rem; text-align: left; vertical-align: top; }
.pass { color: #146c2e; } .fail { color: #a11919; } code { font-size: .85em; color: #555; }
details { margin: .15rem 0; }
@media (prefers-color-scheme: dark) {
  body { background: #161616; color: #e6e6e6; } th, td { border-color: #444; }
  .pass { color: #7bd88f; } .fail { color: #ff8a80; } code { color: #aaa; }
}
"""


def page(document: Mapping[str, Any]) -> str:
    """Render the page."""
    name = escape(str(document["eval_id"]))
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Evaluation {name}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<style>{_STYLE}</style><h1>Evaluation {name}</h1>"
        f"{''.join(_parts(document))}</html>\n"
    )


def _parts(document: Mapping[str, Any]) -> Iterator[str]:
    yield from _notes(document)
    yield from _variants(document)
    yield from _differences(document)
    yield from _cases(document)


def _notes(document: Mapping[str, Any]) -> Iterator[str]:
    if document["stopped"] is not None:
        yield f'<p class="fail"><strong>Not complete: it was stopped ({escape(document["stopped"])}).</strong>'
    yield from (f"<p>warning: {escape(text)}" for text in document["warnings"])


def _variants(document: Mapping[str, Any]) -> Iterator[str]:
    yield "<table><tr><th>variant<th>pass rate<th>cost<th>seconds<th>calls</tr>"
    for row in document["variants"]:
        rate = (
            "no checks" if row["pass_rate"] is None else f"{row['pass_rate']:.2f} ({row['low']:.2f}–{row['high']:.2f})"
        )
        cells = (row["name"], rate, _number(row["cost_usd"], "$"), _number(row["seconds"]), _number(row["calls"]))
        yield "<tr>" + "".join(f"<td>{escape(str(cell))}" for cell in cells) + "</tr>"
    yield "</table>"


def _differences(document: Mapping[str, Any]) -> Iterator[str]:
    for row in document["differences"]:
        mean = "" if row["mean"] is None else f" {row['mean']:+.2f} ({row['low']:+.2f} to {row['high']:+.2f})"
        verdict = f"{row['variant']} against {row['against']}:{mean} {row['verdict']}"
        counts = f"{len(row['better'])} better, {len(row['worse'])} worse"
        needed = f"; about {row['needed_cases']} more cases would show a difference this large"
        yield f"<p><strong>{escape(verdict)}</strong>, {counts}{needed if row.get('needed_cases') else ''}"
        if (pairs := row.get("pairwise")) is not None:
            yield f"; the judge prefers it {pairs['better']} to {pairs['worse']}, ties: {pairs['tie']}"
        worse = [_worse(document, row, case) for case in row["worse"]]
        yield f"<ul>{''.join(worse)}</ul>" if worse else ""


def _worse(document: Mapping[str, Any], difference: Mapping[str, Any], case: str) -> str:
    """Show a case that got worse: its first failed check and both runs."""
    rows = [row for row in document["rows"] if row["case"] == case]
    after = [row for row in rows if row["variant"] == difference["variant"] and row["passed"] is False][:1]
    before = [row for row in rows if row["variant"] == difference["against"] and row["passed"]][:1]
    failed = next((check for row in after for check in row["checks"] if not check["passed"]), None)
    reason = f": {failed['check']}: {failed['evidence']}" if failed else ""
    runs = ", ".join(f"{row['variant']}: {row['run_id']}" for row in (*before, *after))
    return f"<li>worse: {escape(f'{case}{reason}')} <code>{escape(runs)}</code>"


def _cases(document: Mapping[str, Any]) -> Iterator[str]:
    names = [variant["name"] for variant in document["variants"]]
    cells: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    for row in document["rows"]:
        cells.setdefault(row["case"], {}).setdefault(row["variant"], []).append(row)
    yield "<table><tr><th>case" + "".join(f"<th>{escape(name)}" for name in names) + "</tr>"
    for case, by_variant in cells.items():
        yield f"<tr><td>{escape(case)}"
        for name in names:
            yield "<td>" + "".join(map(_run, by_variant.get(name, ())))
        yield "</tr>"
    yield "</table>"


def _run(row: Mapping[str, Any]) -> str:
    passed = row["passed"]
    word, kind = ("passed", "pass") if passed else ("no checks", "") if passed is None else ("failed", "fail")
    checks = "".join(
        f'<li class="{"pass" if check["passed"] else "fail"}">{escape(str(check["check"]))}: '
        f"{escape(str(check['evidence']))}"
        for check in row["checks"]
    )
    run = escape(str(row["run_id"]))
    return f'<details><summary class="{kind}">{word}</summary><code>{run}</code><ul>{checks}</ul></details>'


def _number(value: float | None, unit: str = "") -> str:
    return "unknown" if value is None else f"{unit}{plain(value, 4)}"
