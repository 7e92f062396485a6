"""Why a skill was selected or not: a reason in words, and explanations with the scores by part and signal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goalwright_skills.selection.detector import Explained, Explanation, PartScore
from goalwright_skills.selection.ranking.reading import UNFAMILIAR
from goalwright_skills.text.formatting import cut, shorten

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goalwright_skills.selection.detector import Selection
    from goalwright_skills.selection.ranking.choosing import Chosen
    from goalwright_skills.selection.ranking.reading import Fit, GoalReading, Passage

_MOST_WORDS, _MOST_LACKING = 8, 6
# The characters of a part that are quoted in a reason, and in an explanation.
_REASON_LENGTH, _EXPLANATION_LENGTH = 60, 60
# The number of parts that are shown for a candidate.
_PARTS = 3
# The least cosine of a skill that is near in meaning.
NEAR = 0.3


def of_choice(choice: Chosen, reading: GoalReading, named: str | None) -> str:
    """Return why a skill was chosen; `named` are the words by which the goal names it."""
    reasons = [f'the goal names it: "{named}"'] if named else []
    reasons += [fit] if (fit := _fit_reason(choice.passage, choice.document)) else []
    if choice.partner is not None:
        partner = reading.pool.skills[choice.partner].name
        reasons.append(f"{partner} is used with it" if choice.needed else f"goes with {partner}")
    return "; ".join(reasons)


def of_rank(document: int, reading: GoalReading) -> str:
    """Return why a skill is among the best, by the part that it fits best or the whole goal."""
    part = reading.best_part(document)
    whole = reading.whole.fits.get(document)
    better = part is not None and (whole is None or part.fits[document].score > whole.score)
    passage = part if better and part is not None else reading.whole
    if not (reason := _fit_reason(passage, document)) and document in passage.fits:
        return f"only near in meaning ({passage.fits[document].signals.meaning:.2f})"
    return reason


def _fit_reason(passage: Passage, document: int) -> str:
    """Return the words that text and skill share, and whether they are near in meaning."""
    if document not in passage.fits:
        return ""
    brief, body = passage.shared(document)
    shared = [
        f"{place}: {', '.join(words[:_MOST_WORDS])}"
        for place, words in (("description", brief), ("body", body))
        if words
    ]
    reasons = [f"words of the goal in its {'; in its '.join(shared)}"] if shared else []
    meaning = passage.fits[document].signals.meaning
    reasons += [f"near in meaning ({meaning:.2f})"] if meaning >= NEAR else []
    reasons += ["the goal asks for a choice"] if passage.implied_by(document) else []
    text = "; ".join(reasons)
    return f'for "{cut(passage.text, _REASON_LENGTH)}": {text}' if passage.is_part and text else text


def nothing(goal: str) -> Explanation:
    """Return the explanation of a selection among no skills."""
    return Explanation(goal, certain=False, candidates=())


def explained(goal: str, reading: GoalReading, selected: Mapping[str, Selection], limit: int) -> Explanation:
    """Explain the best `limit` skills and all selected ones."""
    skills = reading.pool.skills
    documents = {skill.name: document for document, skill in enumerate(skills)}
    order = [*(documents[name] for name in selected), *(document for document, _ in reading.ranked)]
    candidates = [
        _candidate(document, reading, selected.get(skills[document].name))
        for document in list(dict.fromkeys(order))[: max(limit, len(selected))]
    ]
    return Explanation(goal, any(selection.certain for selection in selected.values()), tuple(candidates))


def unranked(document: int, reading: GoalReading) -> Explained:
    """Explain a skill that is not among the best: how it fits, and why it was no candidate."""
    whole = reading.whole
    fit = whole.fit_of(document)
    signals = {name: round(value, 3) for name, value in whole.pool.combination.shares(fit.signals).items()}
    first = whole.ranked[0].score if whole.ranked else 0.0
    margin = round(min(fit.score - first, 0.0), 3)
    parts = (PartScore(whole.text, round(fit.score, 3), signals),)
    name = reading.pool.skills[document].name
    return Explained(name, 0.0, selected=False, margin=margin, parts=parts, change=_why_no_candidate(fit, reading))


def unindexed(name: str) -> Explained:
    """Explain a skill that has no index yet, and whose name and description share too few words with the goal."""
    change = (
        "it was not a candidate: it is not indexed yet, and others have more of the goal's words in their names and "
        "descriptions; ask again once it is indexed"
    )
    return Explained(name, 0.0, selected=False, margin=0.0, parts=(), change=change)


def _why_no_candidate(fit: Fit, reading: GoalReading) -> str:
    whole, document = reading.whole, fit.candidate.document
    if document in whole.fits:
        return _change(document, whole, round(fit.score - whole.ranked[0].score, 3), None)
    reasons = [
        "it shares no word with the goal"
        if not fit.candidate.adds
        else f"its words count {fit.candidate.by_words:.2f}, those of the last candidate {whole.least_words:.2f}",
        f"its meaning is {fit.signals.meaning:.2f} near, the nearest skill's {whole.most_meaning:.2f}",
    ]
    return f"it was not a candidate: {', and '.join(reasons)}; {_lacking(document, whole)}"


def _candidate(document: int, reading: GoalReading, selection: Selection | None) -> Explained:
    passages = [passage for passage in (reading.whole, *reading.parts) if document in passage.fits]
    whole = [passage for passage in passages if not passage.is_part]
    parts = sorted((passage for passage in passages if passage.is_part), key=lambda part: -part.fits[document].score)
    shown = [*whole, *parts[:_PARTS]]
    best = max(shown, key=lambda passage: passage.fits[document].score, default=reading.whole)
    score = selection.score if selection is not None else round(reading.probability(document), 4)
    scores = tuple(_part_score(passage, document) for passage in shown)
    name = reading.pool.skills[document].name
    margin = _margin(document, best, selection)
    return Explained(name, score, selection is not None, margin, scores, _change(document, best, margin, selection))


def _part_score(passage: Passage, document: int) -> PartScore:
    """Return a skill's score for one text by signal, and the text's `need` of a skill."""
    fit = passage.fits[document]
    signals = {**passage.pool.combination.shares(fit.signals), "need": passage.need}
    return PartScore(passage.text, round(fit.score, 3), {name: round(value, 3) for name, value in signals.items()})


def _margin(document: int, best: Passage, selection: Selection | None) -> float:
    """Return a skill's distance from a selection: to the first skill's score, or to the least need of the text."""
    if document not in best.fits:
        return 0.0
    first = best.ranked[0]
    if selection is None and first.candidate.document != document:
        return round(best.fits[document].score - first.score, 3)
    over = best.need - best.threshold
    return round(over if selection is None else max(over, 0.0), 3)


def _change(document: int, best: Passage, margin: float, selection: Selection | None) -> str:
    """Return what would change the outcome for a skill."""
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
        word, weight = best.unheard
        if weight >= UNFAMILIAR:
            needs += f'; no skill has "{word}"'
        return f"{_named(best)} would have to need a skill more ({needs}): {_lacking(document, best)}"
    if best.ranked[0].candidate.document != document:
        first = best.pool.skills[best.ranked[0].candidate.document].name
        place = f" for {_quoted(best)}" if best.is_part else ""
        return f"it would have to come before {first}{place}, {-margin:.2f} more: {_lacking(document, best)}"
    return _lacking(document, best)


def _named(passage: Passage) -> str:
    return f"the part {_quoted(passage)}" if passage.is_part else "the goal"


def _quoted(passage: Passage) -> str:
    return repr(shorten(passage.text, _EXPLANATION_LENGTH))


def _lacking(document: int, passage: Passage) -> str:
    """Name the words of a text that a skill's description lacks."""
    described = set(passage.shared(document)[0])
    words = (word for word in passage.words.spelling.values() if len(word) > (2 if word.isascii() else 1))
    lacking = [word for word in words if word not in described][:_MOST_LACKING]
    if not lacking:
        return f"its description has every word of {'that part' if passage.is_part else 'the goal'}"
    return "its description lacks " + ", ".join(f'"{word}"' for word in lacking)
