"""Statistics of a journal by day: runs, costs, failures, and the skills, models and tags that were used."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from goalwright_executor.stores.row import COST_PLACES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from goalwright_executor.stores.row import RunCount
    from goalwright_executor.stores.run_lists import CountedBy
    from goalwright_executor.stores.store import Store

    Counts = Mapping[CountedBy, Sequence[RunCount]]

# The statuses of runs that did not finish their goal.
FAILURES = ("failed", "partial", "stopped", "interrupted")
MOST_DAYS = 366
_MOST = 50  # causes, skills, models and tags listed
_LISTS: tuple[CountedBy, ...] = ("cause", "model", "skills", "tags")


@dataclass(slots=True)
class _Sum:
    """The totals of some runs."""

    runs: int = 0
    cost: float = 0.0
    unpriced: int = 0
    tokens: int = 0
    statuses: Counter[str] = field(default_factory=Counter)

    def add(self, count: RunCount, status: str = "") -> None:
        self.runs += count.runs
        self.cost += count.cost_usd
        self.unpriced += count.runs - count.priced
        self.tokens += count.tokens
        if status:
            self.statuses[status] += count.runs

    def spent(self) -> dict[str, Any]:
        """Return the cost, the tokens and the number of runs with an unknown price."""
        return {"cost_usd": round(self.cost, COST_PLACES), "unpriced": self.unpriced, "tokens": self.tokens}

    def to_dict(self, times: Sequence[float]) -> dict[str, Any]:
        ordered = sorted(times)
        return {
            "runs": self.runs,
            "statuses": dict(sorted(self.statuses.items())),
            "failures": sum(self.statuses[status] for status in FAILURES),
            **self.spent(),
            "median_seconds": _quantile(ordered, 0.5),
            "p95_seconds": _quantile(ordered, 0.95),
        }


def statistics(store: Store | None, days: int, now: datetime | None = None) -> dict[str, Any]:
    """Return statistics of the last `days` days in UTC, including today, as `trace stats --json` prints them.

    Costs cover runs with a known price, the others count as `unpriced`; seconds cover finished runs.
    """
    today = (now or datetime.now(UTC)).date()
    first = today - timedelta(days=days - 1)
    since = first.isoformat()
    times: dict[str, list[float]] = defaultdict(list)
    for day, seconds in store.times(since) if store is not None else ():
        times[day].append(seconds)
    total, by_day = _Sum(), {(first + timedelta(days=number)).isoformat(): _Sum() for number in range(days)}
    for count in store.counts("day", since) if store is not None else ():
        day, status = (part or "" for part in count.key)
        total.add(count, status)
        by_day.setdefault(day, _Sum()).add(count, status)  # the clock of a machine can be ahead
    counts: Counts = {by: list(store.counts(by, since)) for by in _LISTS} if store is not None else {}
    return {
        "since": first.isoformat(),
        "until": today.isoformat(),
        "total": total.to_dict([seconds for day_times in times.values() for seconds in day_times]),
        "days": [{"day": day} | totals.to_dict(times.get(day, [])) for day, totals in sorted(by_day.items())],
        "failures": _causes(counts.get("cause", ())),
        "skills": _skills(counts.get("skills", ())),
        "models": _by_name("model", counts.get("model", ())),
        "tags": _by_name("tag", counts.get("tags", ())),
    }


def _quantile(ordered: Sequence[float], fraction: float) -> float | None:
    return round(ordered[min(len(ordered) - 1, int(fraction * len(ordered)))], 3) if ordered else None


def _causes(counts: Iterable[RunCount]) -> list[dict[str, Any]]:
    """Count runs by status and error code, most frequent first."""
    ended = [count for count in counts if count.key[0] in FAILURES]
    causes: Counter[tuple[str | None, ...]] = Counter()
    for count in ended:
        causes[count.key] += count.runs
    return [{"status": status, "code": code, "runs": runs} for (status, code), runs in causes.most_common(_MOST)]


def _skills(counts: Iterable[RunCount]) -> list[dict[str, Any]]:
    """Count the runs in which each skill was selected, used, and ignored; only indexed runs count."""
    selected: Counter[str] = Counter()
    used: Counter[str] = Counter()
    ignored: Counter[str] = Counter()
    for count in counts:
        selected_text, used_text = count.key
        if used_text is None:
            continue
        selected_names, used_names = set((selected_text or "").split()), set(used_text.split())
        for name in selected_names:
            selected[name] += count.runs
        for name in used_names:
            used[name] += count.runs
        for name in selected_names - used_names:
            ignored[name] += count.runs
    ordered = sorted(selected.keys() | used.keys(), key=lambda name: (-selected[name] - used[name], name))
    return [
        {"name": name, "selected": selected[name], "used": used[name], "ignored": ignored[name]}
        for name in ordered[:_MOST]
    ]


def _by_name(key: str, counts: Iterable[RunCount]) -> list[dict[str, Any]]:
    """Sum runs by model or tag, most frequent first."""
    sums: dict[str, _Sum] = defaultdict(_Sum)
    for count in counts:
        for name in filter(None, (count.key[0] or "").split("\n")):
            sums[name].add(count)
    most = sorted(sums.items(), key=lambda pair: (-pair[1].runs, pair[0]))[:_MOST]
    return [{key: name, "runs": totals.runs, **totals.spent()} for name, totals in most]
