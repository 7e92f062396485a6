"""Why a skill fits, in words: the part of the goal, the words that both have, and what is near in meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_skills.text.shorten import cut

if TYPE_CHECKING:
    from goalwright_skills.selection.ranking.choosing import Chosen
    from goalwright_skills.selection.ranking.reading import GoalReading, Passage

_MOST_WORDS = 8
_PART_LENGTH = 60
# The cosine from which a skill is near in meaning.
NEAR = 0.3


def of_choice(choice: Chosen, reading: GoalReading, named: str | None) -> str:
    """Why a skill was chosen."""
    found = [f'the goal names it: "{named}"'] if named else []
    found += [own] if (own := _of(choice.passage, choice.document)) else []
    if choice.partner is not None:
        partner = reading.pool.skills[choice.partner].name
        found.append(f"{partner} is used with it" if choice.needed else f"goes with {partner}")
    return "; ".join(found)


def of_rank(document: int, reading: GoalReading) -> str:
    """Why a skill is among the best: by the part that it fits best, else by the whole goal."""
    part = reading.best_part(document)
    whole = reading.whole.fits.get(document)
    better = part is not None and (whole is None or part.fits[document].score > whole.score)
    fitting = part if better and part is not None else reading.whole
    if not (found := _of(fitting, document)) and document in fitting.fits:
        return f"only near in meaning ({fitting.fits[document].signals.meaning:.2f})"
    return found


def _of(passage: Passage, document: int) -> str:
    """Which words of a text are in which part of a skill, and whether it is near in meaning."""
    if document not in passage.fits:
        return ""
    brief, body = passage.shared(document)
    places = (("description", brief), ("body", body))
    shared = [f"{place}: {', '.join(words[:_MOST_WORDS])}" for place, words in places if words]
    found = [f"words of the goal in its {'; in its '.join(shared)}"] if shared else []
    meaning = passage.fits[document].signals.meaning
    found += [f"near in meaning ({meaning:.2f})"] if meaning >= NEAR else []
    asked = dict.fromkeys(passage.words.asked[term] for term in passage.asked_of(document))
    found += [f"the goal asks for {name}" for name in asked]
    text = "; ".join(found)
    return f'for "{cut(passage.text, _PART_LENGTH)}": {text}' if passage.is_part and text else text
