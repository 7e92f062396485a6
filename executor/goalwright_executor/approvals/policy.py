"""The policy for tool calls: which ones run, which ones ask a person first, and which ones are denied."""

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
    """What becomes of the calls of tools whose name matches a pattern such as `mcp__github__*`.

    A rule that is a `floor` only tightens: it is that of a workspace that is not trusted, or of a recorded run.
    """

    tool: str
    decision: RuleDecision
    floor: bool = False

    @classmethod
    def of(cls, row: object, number: int) -> ApprovalRule:
        """The rule in a table of a settings file; raises ValueError with what is wrong with it."""
        if isinstance(row, ApprovalRule):
            return row
        faults = list(_faults(row))
        if faults or not isinstance(row, Mapping):
            raise ValueError(f"rule {number}: {'; '.join(faults)}")
        return cls(row["tool"], row["decision"], bool(row.get("floor", False)))

    def to_dict(self) -> dict[str, Any]:
        """The rule as settings hold it."""
        return {"tool": self.tool, "decision": self.decision} | ({"floor": True} if self.floor else {})

    def __str__(self) -> str:
        return f"{self.decision} {self.tool}"


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the policy says of a call, and the rule that says so: its number, or 0 for the mode itself."""

    decision: RuleDecision
    rule: int = 0

    @property
    def by(self) -> str:
        """The rule as records name it."""
        return f"policy:{self.rule}"


@dataclass(frozen=True, slots=True)
class ApprovalPolicy:
    """The first rule that matches decides; without one, the mode does.

    `never` asks for nothing, `writes` for calls that change the workspace or anything outside, `all` for every call.
    """

    mode: ApprovalMode = "writes"
    rules: tuple[ApprovalRule, ...] = ()
    workspace_writes: bool = False  # whether changes of the workspace are allowed without asking

    def decide(self, tool: str, effects: Effects) -> Ruling:
        """What becomes of a call: what the first rule says or a stricter floor."""
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
    """The rules, so that they can only tighten: those that allow have nothing to say."""
    return tuple(ApprovalRule(rule.tool, rule.decision, floor=True) for rule in rules if rule.decision != "allow")


def stricter(mode: ApprovalMode, other: ApprovalMode) -> ApprovalMode:
    """The mode that asks more often."""
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
