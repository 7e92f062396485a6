"""Why a skill fits, in words: the part of the goal, the words that both have, and what is near in meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_skills.selection.detector import Explained, Explanation, PartScore
from goalwright_skills.selection.ranking.reading import UNFAMILIAR
from goalwright_skills.text.shorten import cut, shorten

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright_skills.selection.detector import Selection
    from goalwright_skills.selection.ranking.choosing import Chosen
    from goalwright_skills.selection.ranking.reading import Fit, GoalReading, Passage


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


_PARTS = 3
# How much of a part is quoted.
_SHOWN = 60


def nothing(goal: str) -> Explanation:
    """The explanation where there are no skills."""
    return Explanation(goal, certain=False, candidates=())


def explained(goal: str, reading: GoalReading, selected: Mapping[str, Selection], limit: int) -> Explanation:
    """The best `limit` skills, all selected ones and those that the goal refuses, each with its signals."""
    skills = reading.pool.skills
    numbers = {skill.name: at for at, skill in enumerate(skills)}
    order = [*(numbers[name] for name in selected), *(document for document, _ in reading.ranked)]
    found = [
        _candidate(document, reading, selected.get(skills[document].name))
        for document in list(dict.fromkeys(order))[: max(limit, len(selected))]
    ]
    return Explanation(goal, any(selection.certain for selection in selected.values()), tuple(found))


def unranked(document: int, reading: GoalReading) -> Explained:
    """A skill that is not among the best: how it would have fitted, and why it was not looked at."""
    whole = reading.whole
    fit = whole.fit_of(document)
    signals = {name: round(value, 3) for name, value in whole.pool.combination.shares(fit.signals).items()}
    first = whole.ranked[0].score if whole.ranked else 0.0
    margin = round(min(fit.score - first, 0.0), 3)
    parts = (PartScore(whole.text, round(fit.score, 3), signals),)
    name = reading.pool.skills[document].name
    return Explained(name, 0.0, selected=False, margin=margin, parts=parts, change=_not_looked_at(fit, reading))


def unindexed(name: str) -> Explained:
    """A skill that is not indexed yet, and whose name and description have too little of the goal."""
    change = (
        "it was not a candidate: it is not indexed yet, and others have more of the goal's words in their names and "
        "descriptions; ask again when the index is made"
    )
    return Explained(name, 0.0, selected=False, margin=0.0, parts=(), change=change)


def _not_looked_at(fit: Fit, reading: GoalReading) -> str:
    """Why a skill was not a candidate, and what would make it one."""
    whole, document = reading.whole, fit.candidate.document
    if document in whole.fits:
        return _change(document, whole, round(fit.score - whole.ranked[0].score, 3), None)
    told = [
        "it shares no word with the goal"
        if not fit.candidate.adds
        else f"its words count {fit.candidate.by_words:.2f}, those of the last candidate {whole.least_words:.2f}",
        f"its meaning is {fit.signals.meaning:.2f} near, the nearest skill's {whole.most_meaning:.2f}",
    ]
    return f"it was not a candidate: {', and '.join(told)}; {_words(document, whole)}"


def _candidate(document: int, reading: GoalReading, selection: Selection | None) -> Explained:
    passages = [passage for passage in (reading.whole, *reading.parts) if document in passage.fits]
    whole = [passage for passage in passages if not passage.is_part]
    parts = sorted((passage for passage in passages if passage.is_part), key=lambda part: -part.fits[document].score)
    shown = [*whole, *parts[:_PARTS]]
    best = max(shown, key=lambda passage: passage.fits[document].score, default=reading.whole)
    score = selection.score if selection is not None else round(reading.probability(document), 4)
    scores = tuple(_part(passage, document) for passage in shown)
    name = reading.pool.skills[document].name
    margin = _margin(document, best, selection)
    return Explained(name, score, selection is not None, margin, scores, _change(document, best, margin, selection))


def _part(passage: Passage, document: int) -> PartScore:
    """How a skill fits one text, and what of the score comes from which signal; `need` is the text's own."""
    fit = passage.fits[document]
    signals = {**passage.pool.combination.shares(fit.signals), "need": passage.need}
    return PartScore(passage.text, round(fit.score, 3), {name: round(value, 3) for name, value in signals.items()})


def _margin(document: int, best: Passage, selection: Selection | None) -> float:
    """By how much a skill is above what a selection takes, or below it: the text's need, or the first skill's score."""
    if document not in best.fits:
        return 0.0
    first = best.ranked[0]
    if selection is None and first.candidate.document != document:
        return round(best.fits[document].score - first.score, 3)
    over = best.need - best.threshold
    return round(over if selection is None else max(over, 0.0), 3)


def _change(document: int, best: Passage, margin: float, selection: Selection | None) -> str:
    """What would change that a skill was selected, or was not."""
    needs = f"{best.need:.2f}, selected from {best.threshold:.2f}"
    if best.sounds_everyday:
        needs += "; it sounds like everyday talk"
    if selection is not None:
        if selection.certain:
            return "nothing would change that: it is certain"
        if not best.selects:
            return "without what it was selected for, it would not be"
        return f"it would not be, for a {'part' if best.is_part else 'goal'} that needs a skill less ({needs})"
    if not best.selects:
        word, says = best.unheard
        if says >= UNFAMILIAR:
            needs += f'; no skill has "{word}"'
        return f"{_named(best)} would have to need a skill more ({needs}): {_words(document, best)}"
    if best.ranked[0].candidate.document != document:
        first = best.pool.skills[best.ranked[0].candidate.document].name
        place = f" for {_quoted(best)}" if best.is_part else ""
        return f"it would have to come before {first}{place}, {-margin:.2f} more: {_words(document, best)}"
    return _words(document, best)


def _named(passage: Passage) -> str:
    return f"the part {_quoted(passage)}" if passage.is_part else "the goal"


def _quoted(passage: Passage) -> str:
    return repr(shorten(passage.text, _SHOWN))


def _words(document: int, passage: Passage) -> str:
    """The words of a text that a skill's description lacks."""
    has = set(passage.shared(document)[0])
    words = (word for word in passage.words.spelling.values() if len(word) > (2 if word.isascii() else 1))
    lacking = [word for word in words if word not in has][:6]
    if not lacking:
        return f"its description has every word of {'that part' if passage.is_part else 'the goal'}"
    return "its description lacks " + ", ".join(f'"{word}"' for word in lacking)
