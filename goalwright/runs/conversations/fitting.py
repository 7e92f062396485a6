"""Selects the earlier turns that a turn of a conversation sees, newest first, within a budget of tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from goalwright.models.litellm.prices import PriceList
from goalwright_planner.events import ConversationTurn, EarlierTurn
from goalwright_planner.plan.references import earlier_id
from goalwright_skills.text.formatting import cut

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goalwright.settings.settings import Settings
    from goalwright_planner.events import TurnResult

# The shares of the budget for goals and answers, and for the list of results; the remainder is for summaries.
_WHOLE, _LISTED = 0.7, 0.1
# Tokens of the tags around a turn, and the limit for a summary.
_AROUND, SUMMARY = 30, 150
SUMMARY_LENGTH = 4 * SUMMARY
_MOST_RESULTS = 200
# The context length of an unknown model.
_UNKNOWN_CONTEXT = 32_000


def budget(settings: Settings) -> int:
    """Return the token budget of earlier turns: the setting, or a quarter of the planning model's context."""
    if settings.conversation_tokens is not None:
        return settings.conversation_tokens
    name = settings.model_for("decomposer")
    context = PriceList(settings.prices or {}).at_hand(name).context if name else None
    return (context or _UNKNOWN_CONTEXT) // 4


def tokens(text: str) -> int:
    """Estimate the tokens of a text; scripts other than Latin have more for each character."""
    return len(text) // 4 + 1 if text.isascii() else len(text.encode(errors="replace")) // 3 + 1


def seen(
    name: str, number: int, turns: Sequence[EarlierTurn], results: Sequence[TurnResult], room: int, left_out: int = 0
) -> ConversationTurn:
    """Return what a turn sees of earlier turns, given newest first; `left_out` counts turns left out before."""
    kept: list[EarlierTurn] = []
    whole, left = int(room * _WHOLE), room - int(room * _LISTED)
    for position, turn in enumerate(turns):
        shown = _cut_to(turn, whole) if position == 0 else turn
        size = _AROUND + tokens(shown.goal) + tokens(shown.answer)
        if shown.fits and size <= whole:
            kept.append(shown)
            whole, left = whole - size, left - size
            continue
        whole = 0  # all older turns are summarised too
        shown = replace(shown, fits=False)
        if shown.summary:
            shown = replace(shown, goal="", answer="")
        if left < _AROUND + SUMMARY:
            left_out += len(turns) - position
            break
        kept.append(shown)
        left -= _AROUND + SUMMARY
    return ConversationTurn(name, number, tuple(kept), _listed(results, int(room * _LISTED)), left_out)


def _cut_to(turn: EarlierTurn, room: int) -> EarlierTurn:
    """Cut the goal and answer of the last turn, which is always shown, to the budget."""
    if not turn.fits or _AROUND + tokens(turn.goal) + tokens(turn.answer) <= room:
        return turn
    share = max(room - _AROUND, 100) * 3
    goal = cut(turn.goal, share // 4)
    return replace(turn, goal=goal, answer=cut(turn.answer, max(share - len(goal.encode(errors="replace")), 100)))


def _listed(results: Sequence[TurnResult], room: int) -> tuple[TurnResult, ...]:
    """Return the newest results that fit."""
    kept: list[TurnResult] = []
    for result in results[:_MOST_RESULTS]:
        room -= 15 + tokens(earlier_id(result.turn, result.task)) + tokens(result.title)
        if room < 0:
            break
        kept.append(result)
    return tuple(kept)
