"""Skills ranked by BM25 (rank-bm25) and by TF-IDF (scikit-learn), over names and descriptions in lower case."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

from rank_bm25 import BM25Okapi
from sklearn.feature_extraction.text import TfidfVectorizer

from bench.peers.report import given, report

if TYPE_CHECKING:
    from collections.abc import Callable

Skills = list[list[str]]


def words(text: str) -> list[str]:
    """The words of a text."""
    return re.findall(r"\w+", text.lower())


def by_bm25(skills: Skills) -> Callable[[str], list[str]]:
    """Ranks skills by BM25."""
    index = BM25Okapi([words(f"{name} {description}") for name, description in skills])
    return lambda goal: _best(index.get_scores(words(goal)), skills)


def by_tf_idf(skills: Skills) -> Callable[[str], list[str]]:
    """Ranks skills by the cosine of their TF-IDF vectors."""
    vectorizer = TfidfVectorizer(tokenizer=words, token_pattern=None)
    vectors = vectorizer.fit_transform([f"{name} {description}" for name, description in skills])
    return lambda goal: _best((vectors @ vectorizer.transform([goal]).T).toarray().ravel(), skills)


def _best(scores: Any, skills: Skills) -> list[str]:
    order = sorted(range(len(skills)), key=lambda at: -scores[at])[:10]
    return [skills[at][0] for at in order]


def main() -> None:
    """Rank every goal in its pool and among all skills."""
    asked = given()
    for subject, make in (("BM25", by_bm25), ("TF-IDF", by_tf_idf)):
        pools = {pool: make(asked["pools"][pool]) for pool in {goal["pool"] for goal in asked["goals"]}}
        whole = make(asked["whole"])
        for goal in asked["goals"]:
            own = pools[goal["pool"]](goal["goal"])
            began = time.perf_counter()
            among = whole(goal["goal"])
            seconds = time.perf_counter() - began
            places = [names.index(goal["expected"]) + 1 if goal["expected"] in names else 0 for names in (own, among)]
            report(subject=subject, pool=goal["pool"], place=places[0], whole=places[1], seconds=seconds)


if __name__ == "__main__":
    main()
