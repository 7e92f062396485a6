"""The policy for tool calls: which calls run, which ask a person first, and which are denied."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goalwright_skills.tools.effects import Effects

ApprovalMode = Literal["never", "writes", "all"]
RuleDecision = Literal["allow", "ask", "deny"]
# From the loosest to the strictest.
MODES: tuple[str, ...] = get_args(ApprovalMode)
DECISIONS: tuple[str, ...] = get_args(RuleDecision)
_KEYS = ("tool", "decision", "floor")


@dataclass(frozen=True, slots=True)
class ApprovalRule:
    """The decision on calls of tools whose name matches a pattern such as `mcp__github__*`.

    A `floor` only tightens: it comes from an untrusted workspace or a recorded run.
    """

    tool: str
    decision: RuleDecision
    floor: bool = False

    @classmethod
    def of(cls, row: object, number: int) -> ApprovalRule:
        """Parse a rule from a settings file; raises ValueError with its faults."""
        if isinstance(row, ApprovalRule):
            return row
        faults = list(_faults(row))
        if faults or not isinstance(row, Mapping):
            raise ValueError(f"rule {number}: {'; '.join(faults)}")
        return cls(row["tool"], row["decision"], bool(row.get("floor", False)))

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as settings hold it."""
        return {"tool": self.tool, "decision": self.decision} | ({"floor": True} if self.floor else {})

    def __str__(self) -> str:
        return f"{self.decision} {self.tool}"


@dataclass(frozen=True, slots=True)
class Ruling:
    """The policy's decision on a call, with the number of the rule, or 0 for the mode."""

    decision: RuleDecision
    rule: int = 0

    @property
    def by(self) -> str:
        """The rule as it is recorded."""
        return f"policy:{self.rule}"


@dataclass(frozen=True, slots=True)
class ApprovalPolicy:
    """The first matching rule decides, otherwise the mode.

    `never` asks for nothing, `writes` for calls that change the workspace or anything outside, `all` for every call.
    """

    mode: ApprovalMode = "writes"
    rules: tuple[ApprovalRule, ...] = ()
    workspace_writes: bool = False  # whether the workspace may be changed without asking

    def decide(self, tool: str, effects: Effects) -> Ruling:
        """Return the decision of the first rule, or of a stricter floor."""
        matching = [(number, rule) for number, rule in enumerate(self.rules, 1) if fnmatchcase(tool, rule.tool)]
        first = next((Ruling(rule.decision, number) for number, rule in matching if not rule.floor), None)
        floors = [Ruling(rule.decision, number) for number, rule in matching if rule.floor]
        ruling = first or Ruling(self._by_mode(effects))
        return max(ruling, *floors, key=lambda candidate: DECISIONS.index(candidate.decision)) if floors else ruling

    def _by_mode(self, effects: Effects) -> RuleDecision:
        writes = effects.writes and not (self.workspace_writes and effects.reach == "workspace")
        asks = self.mode == "all" or (self.mode == "writes" and writes)
        return "ask" if asks else "allow"


def as_floors(rules: tuple[ApprovalRule, ...]) -> tuple[ApprovalRule, ...]:
    """Return the rules as floors, without those that allow."""
    return tuple(ApprovalRule(rule.tool, rule.decision, floor=True) for rule in rules if rule.decision != "allow")


def stricter(mode: ApprovalMode, other: ApprovalMode) -> ApprovalMode:
    """Return the mode that asks more often."""
    return max(mode, other, key=MODES.index)


def _faults(row: object) -> Iterator[str]:
    if not isinstance(row, Mapping):
        yield f"must be a table with 'tool' and 'decision', not {row!r}"
        return
    if not isinstance(row.get("tool"), str) or not row["tool"]:
        yield "'tool' must be a tool's name or a pattern such as \"mcp__github__*\""
    if row.get("decision") not in DECISIONS:
        yield f"'decision' must be one of {', '.join(DECISIONS)}, not {row.get('decision')!r}"
    if unknown := [str(key) for key in row if key not in _KEYS]:
        yield f"unknown key {', '.join(map(repr, unknown))}; a rule has 'tool' and 'decision'"
