"""The values in a journal: events as rows, and a summary of each run."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

# The version of events in exported traces; stores have their own schema versions.
VERSION = 2
# Costs are sums of small floats: digits beyond these are rounding errors.
COST_PLACES = 10


class Row(NamedTuple):
    """A stored event: its run, its number in the run, its time (ISO 8601, UTC), and its fields as JSON values."""

    # A tuple, because creating a frozen dataclass takes three times as long.

    run_id: str
    seq: int
    at: str
    type: str
    body: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """The row as a line of an exported trace."""
        head = {"v": VERSION, "run_id": self.run_id, "seq": self.seq, "at": self.at, "type": self.type}
        return head | {key: value for key, value in self.body.items() if key not in head}


@dataclass(frozen=True, slots=True)
class EncodedRows:
    """Rows as columns for a store; `bodies` is JSON without large texts, which `texts` has by run and hash."""

    # Columns, because an object for each row would cost as much as writing it.

    run_ids: list[str] = field(default_factory=list)
    seqs: list[int] = field(default_factory=list)
    times: list[str] = field(default_factory=list)
    types: list[str] = field(default_factory=list)
    tasks: list[str | None] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)
    texts: dict[str, dict[str, str]] = field(default_factory=dict, kw_only=True)

    def __len__(self) -> int:
        return len(self.seqs)

    @property
    def columns(self) -> tuple[list[Any], ...]:
        """The columns, without the large texts."""
        return self.run_ids, self.seqs, self.times, self.types, self.tasks, self.keys, self.bodies

    def merged(self, others: EncodedRows, mine: Sequence[bool]) -> EncodedRows:
        """Merge these rows with others; `mine` says for each position whether the row is one of these."""
        columns = []
        for these, those in zip(map(iter, self.columns), map(iter, others.columns), strict=True):
            columns.append([next(these) if is_mine else next(those) for is_mine in mine])
        texts = {run_id: self.texts.get(run_id, {}) | large for run_id, large in others.texts.items()}
        return EncodedRows(*columns, texts=self.texts | texts)

    def without(self, run_ids: Collection[str]) -> EncodedRows:
        """The rows of the other runs."""
        kept = [run_id not in run_ids for run_id in self.run_ids]
        texts = {run_id: large for run_id, large in self.texts.items() if run_id not in run_ids}
        return EncodedRows(*(list(compress(column, kept)) for column in self.columns), texts=texts)


@dataclass(frozen=True, slots=True)
class BatchCount:
    """The runs of a batch with one status: their number, cost and time, and the first and last id."""

    batch: str
    status: str
    runs: int
    cost_usd: float | None
    seconds: float
    first: str
    last: str


@dataclass(frozen=True, slots=True)
class ConversationSummary:
    """A conversation in a list: the goal of its first turn, the number of turns, and the status of the last.

    `first` and `last` are the ids of its first and last run, `started` is the start of the last. Removed turns count
    only for the cost, unless all turns were removed.
    """

    conversation: str
    goal: str
    turns: int
    first: str
    last: str
    status: str
    cost_usd: float | None = 0.0
    started: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The conversation as JSON values."""
        cost = None if self.cost_usd is None else round(self.cost_usd, COST_PLACES)
        return {name: getattr(self, name) for name in self.__slots__} | {"cost_usd": cost}


@dataclass(frozen=True, slots=True)
class RunIndex:
    """The index entry of a run: its searchable words, and the skills that it used.

    `last` is the number of its last event when they were read.
    """

    run_id: str
    last: int
    words: str
    skills_used: tuple[str, ...] = ()


class RunCount(NamedTuple):
    """The runs with the same `key`: their number, cost, the number with a known cost, and tokens."""

    key: tuple[str | None, ...]
    runs: int
    cost_usd: float
    priced: int
    tokens: int


@dataclass(frozen=True, slots=True)
class StoreStatus:
    """The state of a store, for `goalwright journal status`; `partitions` and `workers` are None for SQLite.

    `schema` is the version of its tables, `newest` that of this goalwright, `oldest` the start of its first run.
    """

    journal: str
    kind: str
    schema: int
    newest: int
    runs: int
    running: int
    oldest: str | None
    bytes: int
    partitions: int | None = None
    workers: int | None = None


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run in a list; `status` is a run's status, or `running`.

    `done` is the number of tasks with a result, `skills` the selected skills, `code` that of the error that ended the
    run. Until there is a plan, which may drop tasks, `early` has the tasks with a result and `early_parts` the number
    of added items; neither is stored.
    """

    run_id: str
    goal: str
    status: str
    started: str
    seconds: float | None = None
    tasks: int = 0
    cost_usd: float | None = 0.0
    parent: str | None = None
    done: int = 0
    skills: tuple[str, ...] = ()
    batch: str | None = None
    batch_goal: str | None = None
    conversation: str | None = None
    model: str | None = None
    tokens: int = 0
    code: str | None = None
    tags: tuple[str, ...] = ()
    note: str = ""
    early: frozenset[str] | None = field(default=frozenset(), repr=False, compare=False)
    early_parts: int = field(default=0, repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """The summary as `trace list --json` prints it."""
        return (
            {
                "run_id": self.run_id,
                "goal": self.goal,
                "status": self.status,
                "started": self.started,
                "seconds": None if self.seconds is None else round(self.seconds, 3),
                "tasks": self.tasks,
                "cost_usd": None if self.cost_usd is None else round(self.cost_usd, COST_PLACES),
            }
            | ({"tags": list(self.tags)} if self.tags else {})
            | ({"note": self.note} if self.note else {})
        )
