"""TF-IDF and MiniLM as skill detectors for comparison; `ranks.PlainBM25` is the third baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from goalwright_skills.selection.detector import Selection
from goalwright_skills.selection.query.terms import terms

from selection_quality.minilm import MiniLM
from selection_quality.ranks import DEPTH, PlainBM25

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from goalwright_skills.selection.detector import SkillDetector
    from goalwright_skills.skill import Skill


class VectorDetector:
    """Ranks skills by the dot product of a goal's vector with the vector of each skill's name and description."""

    def __init__(self, skills: Sequence[Skill], vectors: Any, encode: Callable[[str], Any]) -> None:
        self._skills, self._vectors, self._encode = skills, vectors, encode

    def detect(self, goal: str, skills: Sequence[Skill]) -> list[Selection]:
        """Return the ten best skills."""
        return self.rank(goal, skills, DEPTH)

    def rank(self, goal: str, skills: Sequence[Skill], limit: int) -> list[Selection]:
        """Return the best `limit` of the skills given to the constructor."""
        scores = np.asarray(self._vectors @ self._encode(goal)).ravel()
        return [Selection(self._skills[at].name, float(scores[at]), "") for at in np.argsort(-scores)[:limit]]


def tf_idf(skills: Sequence[Skill]) -> VectorDetector:
    """Return a detector that ranks by TF-IDF vectors."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(analyzer=terms)
    vectors = vectorizer.fit_transform([_text(skill) for skill in skills])
    return VectorDetector(skills, vectors, lambda goal: vectorizer.transform([goal]).T.toarray())


def minilm(skills: Sequence[Skill]) -> VectorDetector:
    """Return a detector that ranks by the vectors of all-MiniLM-L6-v2."""
    encoder = MiniLM.installed()
    vectors = np.array([list(vector) for vector in encoder.encode([_text(skill) for skill in skills])])
    return VectorDetector(skills, vectors, lambda goal: np.array(list(encoder.encode([goal])[0])))


def _text(skill: Skill) -> str:
    return f"{skill.name.replace('-', ' ')}: {skill.description}"


BASELINES: dict[str, Callable[[Sequence[Skill]], SkillDetector]] = {
    "plain BM25": PlainBM25,
    "TF-IDF": tf_idf,
    "MiniLM": minilm,
}
