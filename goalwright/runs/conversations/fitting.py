"""What a turn of a conversation sees of earlier ones: as much as there is room for, newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from goalwright.models.litellm.prices import PriceList
from goalwright_planner.events import ConversationTurn, EarlierTurn
from goalwright_planner.plan.references import earlier_id
from goalwright_skills.text.shorten import cut

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright.settings.settings import Settings
    from goalwright_planner.events import TurnResult

# The share of the budget for goals and answers, and for the list of results; summaries have the rest.
_WHOLE, _LISTED = 0.7, 0.1
# Tokens of the tags around a turn, and of a summary at most.
_AROUND, SUMMARY = 30, 150
SUMMARY_LENGTH = 4 * SUMMARY
_MOST_RESULTS = 200
# The context of a model of which nothing is known.
_UNKNOWN_CONTEXT = 32_000


def budget(settings: Settings) -> int:
    """How many tokens of a prompt earlier turns may take: as set, or a quarter of what the planning model can read."""
    if settings.conversation_tokens is not None:
        return settings.conversation_tokens
    name = settings.model_for("decomposer")
    context = PriceList(settings.prices or {}).at_hand(name).context if name else None
    return (context or _UNKNOWN_CONTEXT) // 4


def tokens(text: str) -> int:
    """About how many tokens a text has; other scripts than Latin have more for each character."""
    return len(text) // 4 + 1 if text.isascii() else len(text.encode(errors="replace")) // 3 + 1


def seen(
    name: str, number: int, turns: Sequence[EarlierTurn], results: Sequence[TurnResult], room: int, left_out: int = 0
) -> ConversationTurn:
    """What a turn sees of the turns before it, which come newest first; `left_out` are those left out before."""
    kept: list[EarlierTurn] = []
    whole, left = int(room * _WHOLE), room - int(room * _LISTED)
    for place, turn in enumerate(turns):
        one = _cut_to(turn, whole) if place == 0 else turn
        size = _AROUND + tokens(one.goal) + tokens(one.answer)
        if one.fits and size <= whole:
            kept.append(one)
            whole, left = whole - size, left - size
            continue
        whole = 0  # what is older is summed up too
        one = replace(one, fits=False)
        if one.summary:
            one = replace(one, goal="", answer="")
        if left < _AROUND + SUMMARY:
            left_out += len(turns) - place
            break
        kept.append(one)
        left -= _AROUND + SUMMARY
    return ConversationTurn(name, number, tuple(kept), _listed(results, int(room * _LISTED)), left_out)


def _cut_to(turn: EarlierTurn, room: int) -> EarlierTurn:
    """The last turn is always shown: its goal and answer, or their beginnings."""
    if not turn.fits or _AROUND + tokens(turn.goal) + tokens(turn.answer) <= room:
        return turn
    share = max(room - _AROUND, 100) * 3
    goal = cut(turn.goal, share // 4)
    return replace(turn, goal=goal, answer=cut(turn.answer, max(share - len(goal.encode(errors="replace")), 100)))


def _listed(results: Sequence[TurnResult], room: int) -> tuple[TurnResult, ...]:
    """The newest results that there is room for."""
    kept: list[TurnResult] = []
    for result in results[:_MOST_RESULTS]:
        room -= 15 + tokens(earlier_id(result.turn, result.task)) + tokens(result.title)
        if room < 0:
            break
        kept.append(result)
    return tuple(kept)
