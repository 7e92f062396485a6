"""What a journal stores: events as rows, and a summary of each run."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

# The version of the events, as exported traces carry it; stores have schema versions of their own.
VERSION = 2
# Costs are sums of small floats: digits beyond these are rounding errors.
COST_PLACES = 10


class Row(NamedTuple):
    """A stored event: its run, its number there, when it happened (ISO 8601, UTC), and its fields as JSON values."""

    # A tuple, because there is one per event, and a frozen dataclass takes three times as long to create.

    run_id: str
    seq: int
    at: str
    type: str
    body: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """The row as a line of an exported trace."""
        place = {"v": VERSION, "run_id": self.run_id, "seq": self.seq, "at": self.at, "type": self.type}
        return place | {key: value for key, value in self.body.items() if key not in place}


@dataclass(frozen=True, slots=True)
class EncodedRows:
    """Rows as stores write them, column by column; `bodies` is JSON without large texts, which `texts` has.

    Those are given by run and hash.
    """

    # Columns, because there are two rows for each task: an object for each costs as much as writing it.

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
        """These rows and others, in an order that says of each place whether it is for one of these."""
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
    """The runs of a batch that have one status: how many, their cost and time, and the first and last of them."""

    batch: str
    status: str
    runs: int
    cost_usd: float | None
    seconds: float
    first: str
    last: str


@dataclass(frozen=True, slots=True)
class ConversationSummary:
    """A conversation in one line of a list: the goal of its first turn, how many turns it has, and how the last stands.

    `first` and `last` are the ids of its first and last run, `started` is when the last one was. Turns that were taken
    back count only for the cost; where all were, the goal, the ids and the status are theirs.
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
    """What the index has of a run: the words that it is found by, and what a list of runs does not read of its events.

    `last` is the number of the last event when it was read.
    """

    run_id: str
    last: int
    words: str
    skills_used: tuple[str, ...] = ()
    model: str | None = None
    tokens: int | None = None
    code: str | None = None


class RunCount(NamedTuple):
    """The runs that have the same `key`: how many, their cost, how many have a known cost, and their tokens."""

    key: tuple[str | None, ...]
    runs: int
    cost_usd: float
    priced: int
    tokens: int


@dataclass(frozen=True, slots=True)
class StoreStatus:
    """What `goalwright journal status` says of a store; `partitions` and `workers` are None where it has none.

    `schema` is the version of its tables, `newest` the one that this goalwright knows; `oldest` is when its first run began.
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
    """A run in one line of a list; `status` is a run's status, or `running`.

    `done` counts the tasks that have a result; `skills` are those selected. `code` names the error that ended it;
    `tokens` and `model` are None in a run that an earlier version recorded, until it is indexed.
    Until there is a plan, `early` has the tasks with a result, as the plan may do without them, and `early_parts`
    counts the items that have grown; neither is stored.
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
    tokens: int | None = 0
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
