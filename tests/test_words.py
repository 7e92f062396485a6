"""Words that are ruled out do not come back: docs, help, messages, docstrings and comments read like those of uv or gh.

Text that recorded runs depend on stays as it was recorded: templates and skills are not looked at, and the few other
places stand in FROZEN. Do not add to it what no model reads and no replay compares.
"""

from __future__ import annotations

import re
import tokenize
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
RULED_OUT = {
    r"\bmend(s|ed|ing)?\b": "fix, repair",
    r"\bsittings?\b": "run, attempt",
    r"\banew\b": "again, from the start",
    r"\bwhoever\b": "who, anyone who, the caller",
    r"\b(go|goes|going|gone|went) on with\b": "resume, continue",
    r"\b(take|takes|taken|taking|took) (it |them )?up again\b": "resume",
    r"\b(that|which) (is|are) none\b": "unknown, invalid",
    r"\b(at most|any|every|first|last|from|of|for|with) so many\b": "at most N, N",
    r"\bdid not end well\b": "failed",
    r"\bnot as it must be\b": "invalid",
    r"\bwhat broke off\b": "interrupted",
    r"\bpursuits?\b": "run, pipeline",
    r"\btoolshed\b": "workspace tools",
    r"\b(?:it|that|which|this|he|she) (?:is|are|was) no (?!longer\b|more\b|one\b)[a-z]": "is not a …",
    r"\b(?:one|object|goal|row|entry|event) an? (?:line|core|machine|goal|task|wing|file|run)\b": "one per …",
    r"\bothers than\b": "differ from",
    r"\bas of now\b": "current",
    r"\b(?:usage|figures|values?) that cannot be\b": "impossible",
    r"\b(?:runs?|journals?|versions?) of (?:before|then)\b": "older, earlier",
    r"\bunique beginning\b": "unique prefix",
}
PATTERN = re.compile("|".join(RULED_OUT))  # in lower case, which takes a quarter of the time that ignoring case takes
SEPARATORS = str.maketrans(dict.fromkeys("#\"'\\", " "))
PACKAGES = ("goalwright", "executor", "planner", "skills")
DATA = ("skills/goalwright_skills/templates", "skills/goalwright_skills/library")
# What a model reads, what a strict replay compares, or a list of words that are data, by file and text.
FROZEN = {
    ("skills/goalwright_skills/check/wording.py", "measure mend merge migrate"),
}


def pages() -> list[Path]:
    """What people read outside the code."""
    texts = [path for package in PACKAGES for kind in ("yaml", "toml") for path in (ROOT / package).rglob(f"*.{kind}")]
    return [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *filter(looked_at, texts)]


def sources() -> list[Path]:
    """Our own modules."""
    return [path for package in PACKAGES for path in (ROOT / package).rglob("*.py") if looked_at(path)]


def looked_at(path: Path) -> bool:
    return not path.relative_to(ROOT).as_posix().startswith(DATA)


def suspected(source: str) -> bool:
    """Whether a module has such words anywhere, be it in names or across strings: tokens take ten times as long."""
    return PATTERN.search(" ".join(source.translate(SEPARATORS).lower().split())) is not None


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """The strings and comments of a module, each with its line; those that follow each other are one text."""
    with tokenize.open(path) as file:
        tokens = [
            token
            for token in tokenize.generate_tokens(file.readline)
            if token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT)
        ]
    for kind, group in groupby(tokens, key=_kind):
        if kind:
            found = list(group)
            yield found[0].start[0], " ".join(token.string.strip("#\"'") for token in found)


def _kind(token: tokenize.TokenInfo) -> str:
    name = tokenize.tok_name[token.type]
    return name if name == "COMMENT" else "STRING" if "STRING" in name else ""


def found_in(place: str, line: int, text: str) -> list[str]:
    """What is ruled out in a text, each with where it stands."""
    flat = " ".join(text.split())
    if any(file == place and frozen in flat for file, frozen in FROZEN):
        return []
    hits = PATTERN.finditer(flat.lower())
    return [f"{place}:{line}: {flat[max(0, hit.start() - 40) : hit.end() + 30]!r}" for hit in hits]


def test_no_page_uses_a_word_that_is_ruled_out() -> None:
    wrong = []
    for path in pages():
        paragraphs = re.split(r"\n\s*\n", path.read_text(encoding="utf-8"))
        line = 1
        for paragraph in paragraphs:
            wrong += found_in(str(path.relative_to(ROOT)), line, paragraph)
            line += paragraph.count("\n") + 2
    assert wrong == [], "\n".join(["", *wrong])


def test_no_string_docstring_or_comment_uses_a_word_that_is_ruled_out() -> None:
    wrong = [
        hit
        for path in sources()
        if suspected(path.read_text(encoding="utf-8"))
        for line, text in texts(path)
        for hit in found_in(str(path.relative_to(ROOT)), line, text)
    ]
    assert wrong == [], "\n".join(["", *wrong])


def test_every_frozen_text_is_still_there() -> None:
    for place, frozen in FROZEN:
        flat = [" ".join(text.split()) for _, text in texts(ROOT / place)]
        assert any(frozen in text for text in flat), f"{place} no longer has {frozen!r}: take it out of FROZEN"


@pytest.mark.parametrize(
    "text",
    [
        "Mended.",
        "an earlier\nsitting",
        "It is gone on\n  with.",
        "values that are none",
        "taken up again",
        "it is no JSON",
        "one a\ncore",
    ],
)
def test_a_word_that_is_ruled_out_is_found(text: str) -> None:
    assert found_in("somewhere", 1, text)
    assert suspected(f'"""{text}"""\n')


@pytest.mark.parametrize(
    "source", ['x = ("taken up "\n     "again")\n', "# an earlier\n# Sitting\n", "x = f'{y}mended'\n"]
)
def test_a_word_that_is_ruled_out_is_found_in_a_module(source: str, tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(source, encoding="utf-8")
    assert suspected(source)
    assert [hit for line, text in texts(module) for hit in found_in("module.py", line, text)]


def test_other_words_are_left_alone() -> None:
    assert (
        found_in(
            "somewhere",
            1,
            "We recommend to amend the commendable; go on, with care; there is no skill; it is no longer here",
        )
        == []
    )
