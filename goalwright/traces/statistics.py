"""The runs of a journal in figures, day by day: how many, what they cost, why they failed, which skills they used."""

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

# How runs end that did not do all they were asked for.
FAILURES = ("failed", "partial", "stopped", "interrupted")
MOST_DAYS = 366
# How many causes, skills, models and tags are named.
_MOST = 50
_LISTS: tuple[CountedBy, ...] = ("cause", "model", "skills", "tags")


@dataclass(slots=True)
class _Sum:
    """Some runs added up."""

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
        """What the runs cost, and how many of them are of unknown price."""
        return {"cost_usd": round(self.cost, COST_PLACES), "unpriced": self.unpriced, "tokens": self.tokens}

    def to_dict(self, times: Sequence[float]) -> dict[str, Any]:
        ordered = sorted(times)
        return {
            "runs": self.runs,
            "statuses": dict(sorted(self.statuses.items())),
            "failures": sum(self.statuses[status] for status in FAILURES),
            **self.spent(),
            "median_seconds": _share(ordered, 0.5),
            "p95_seconds": _share(ordered, 0.95),
        }


def statistics(store: Store | None, days: int, now: datetime | None = None) -> dict[str, Any]:
    """The runs that started in the last `days` days (UTC, today among them), as `trace stats --json` prints them.

    Costs are of the runs whose price is known, the others are counted as `unpriced`; seconds are of runs that are done.
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
        by_day.setdefault(day, _Sum()).add(count, status)  # a clock may have been ahead
    counts: Counts = {by: list(store.counts(by, since)) for by in _LISTS} if store is not None else {}
    return {
        "since": first.isoformat(),
        "until": today.isoformat(),
        "total": total.to_dict([one for some in times.values() for one in some]),
        "days": [{"day": day} | one.to_dict(times.get(day, [])) for day, one in sorted(by_day.items())],
        "failures": _causes(counts.get("cause", ())),
        "skills": _skills(counts.get("skills", ())),
        "models": _named("model", counts.get("model", ())),
        "tags": _named("tag", counts.get("tags", ())),
    }


def _share(ordered: Sequence[float], share: float) -> float | None:
    """The value that so large a share of the values does not exceed."""
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 3) if ordered else None


def _causes(counts: Iterable[RunCount]) -> list[dict[str, Any]]:
    """How often which error ended a run, the most frequent first; without a code, its status is the cause."""
    ended = [count for count in counts if count.key[0] in FAILURES]
    causes: Counter[tuple[str | None, ...]] = Counter()
    for count in ended:
        causes[count.key] += count.runs
    return [{"status": status, "code": code, "runs": runs} for (status, code), runs in causes.most_common(_MOST)]


def _skills(counts: Iterable[RunCount]) -> list[dict[str, Any]]:
    """In how many runs each skill was selected, used, and selected but not used; only of runs that are indexed."""
    selected: Counter[str] = Counter()
    used: Counter[str] = Counter()
    ignored: Counter[str] = Counter()
    for count in counts:
        chosen, used_ones = count.key
        if used_ones is None:
            continue
        names, own = set((chosen or "").split()), set(used_ones.split())
        for name in names:
            selected[name] += count.runs
        for name in own:
            used[name] += count.runs
        for name in names - own:
            ignored[name] += count.runs
    ordered = sorted(selected.keys() | used.keys(), key=lambda name: (-selected[name] - used[name], name))
    return [
        {"name": name, "selected": selected[name], "used": used[name], "ignored": ignored[name]}
        for name in ordered[:_MOST]
    ]


def _named(what: str, counts: Iterable[RunCount]) -> list[dict[str, Any]]:
    """The runs of each model or tag, the most frequent first."""
    sums: dict[str, _Sum] = defaultdict(_Sum)
    for count in counts:
        for name in filter(None, (count.key[0] or "").split("\n")):
            sums[name].add(count)
    most = sorted(sums.items(), key=lambda pair: (-pair[1].runs, pair[0]))[:_MOST]
    return [{what: name, "runs": one.runs, **one.spent()} for name, one in most]
