"""A model whose calls go through the batch's traffic."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from planner.errors import ModelError, Transient
from weft.batch.traffic import Gate, Pool, Rates, estimate, is_overload

if TYPE_CHECKING:
    from planner.model import Model, Reply, Request

# How long a call waits out an outage on its own, so that no goal spends its attempts on a provider that is down.
_OUTAGE = 900.0


@dataclass(slots=True)
class Traffic:
    """The pool and the gates that all goals of a batch share."""

    rates: Rates
    pool: Pool = field(init=False)
    gates: dict[str, Gate] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.pool = Pool(self.rates.max_calls)

    def gate(self, model: str) -> Gate:
        """The gate of a model."""
        return self.gates.setdefault(model, Gate(self.rates))

    def around(self, model: Model, owner: str) -> Pooled:
        """The model as one goal of the batch uses it."""
        return Pooled(model, self, owner)


@dataclass(frozen=True, slots=True)
class Pooled:
    """Waits for its turn before every call, and tells the traffic how the call went."""

    model: Model
    traffic: Traffic
    owner: str

    @property
    def name(self) -> str:
        """The name of the model itself."""
        return self.model.name

    async def complete(self, request: Request) -> Reply:
        """Answer the request when it is its turn; an outage is waited out without counting as an attempt."""
        gate = self.traffic.gate(self.name)
        expected = estimate(sum(len(message.content) for message in request.messages))
        give_up = time.monotonic() + _OUTAGE
        while True:
            async with self.traffic.pool.turn(self.owner):
                await gate.pass_through(expected)
                try:
                    reply = await self.model.complete(request)
                except ModelError as error:
                    gate.went_wrong(error)
                    if is_overload(error):
                        self.traffic.pool.narrow()
                    if not (isinstance(error, Transient) and gate.is_down and time.monotonic() < give_up):
                        raise
                    continue
            gate.went_well(expected, reply.usage.tokens)
            self.traffic.pool.widen()
            return reply
