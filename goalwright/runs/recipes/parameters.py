"""Finds the parameters of a recipe: the words of a goal that may differ from one use to the next."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from goalwright.runs.recipes import plan_texts
from goalwright.runs.recipes.recipe import Recipe, RecipeParameter, RecipeValueError, name_fault, number_in
from goalwright_skills.selection.query.terms import SCRIPTS_WITHOUT_SPACES, STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from goalwright.runs.recipes.recipe import ParameterType

TokenKind = Literal["word", "number", "path", "quoted", "mark"]

MOST_FOUND = 12
_TOKEN = re.compile(
    r"(?P<quoted>\"[^\"\n]{1,200}\"|“[^”\n]{1,200}”|`[^`\n]{1,200}`|(?<!\w)'[^'\n]{1,200}'(?!\w))"
    r"|(?P<path>https?://[^\s\"'<>]*[^\s\"'<>.,;:!?)\]]|(?:[\w.~-]{0,80}/){1,20}[\w.~*-]{0,80}\w"
    r"|\w[\w-]{0,80}(?:\.[\w-]{1,40}){0,4}\.[A-Za-z]\w{0,7}\b)"
    r"|(?P<number>[$€£]?\d+(?:[.,:]\d+){0,6}%?(?![\w-]))"
    rf"|(?P<word>[{SCRIPTS_WITHOUT_SPACES}]|[^\W_{SCRIPTS_WITHOUT_SPACES}]"
    rf"(?:[\w'’+#-](?<![{SCRIPTS_WITHOUT_SPACES}])){{0,80}}(?:\.\d+){{0,3}})"
    r"|(?P<mark>[,;:.!?()\[\]、。，；：！？&\n])"
)
_BRACED = re.compile(r"\{(\w+)\}")
_SENTENCE_ENDS = (".", "!", "?", "\n", ":")
_ARTICLES = frozenset(["a", "an", "the", "our", "my", "its", "their", "your"])
_PREPOSITIONS = frozenset(["about", "at", "for", "from", "in", "into", "of", "on", "to", "with"])
# After these verbs the object may differ: "explain X", "review X". What "write" or "extract" asks for may not: another
# product needs another plan.
_TOPIC_VERBS = re.compile(
    r"analy[sz]e|compare|describe|discuss|evaluate|examine|explain|introduce|investigate|outline|proofread"
    r"|research|review|study|summari[sz]e|translate"
)
_PRODUCTS = frozenset(["list", "table", "report", "summary", "document", "file", "page", "paragraph", "sentence"])
# Formats and languages that a plan for any goal may ask for.
_FORMATS = frozenset(
    ["Markdown", "Python", "English", "JavaScript", "Excel", "Word", "Unicode", "Git", "GitHub", "Bash"]
)


@dataclass(frozen=True, slots=True)
class RecipeSource:
    """The goal, the plan document and the files (by their names in the plan) of the run that becomes a recipe."""

    goal: str
    plan: Mapping[str, Any]
    files: Mapping[str, Path] = field(default_factory=dict)
    run_id: str = ""

    def plan_contains(self, text: str) -> bool:
        """Return whether the plan contains these words where a value may go."""
        return any(_contains(plan_text, text) for plan_text in plan_texts.texts(self.plan))

    def is_fixed(self, text: str) -> bool:
        """Return whether a condition or a schema of the plan contains these words, where no value can go."""
        return any(_contains(plan_text, text) for plan_text in plan_texts.fixed_texts(self.plan))


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    start: int
    end: int
    kind: TokenKind

    @property
    def folded(self) -> str:
        return self.text.casefold()

    @property
    def is_typed(self) -> bool:
        return self.kind in ("number", "path", "quoted")

    @property
    def is_content(self) -> bool:
        return self.kind == "word" and self.folded not in STOP_WORDS and self.folded not in _ARTICLES

    @property
    def is_name(self) -> bool:
        return self.is_content and self.text[:1].isupper()


@dataclass(frozen=True, slots=True)
class _Phrase:
    """Some words of a goal, and a name for them."""

    text: str
    name: str


def found_parameters(source: RecipeSource) -> list[RecipeParameter]:
    """Return the words of the goal that also occur in its plan, and the files that were given."""
    parameters = [
        RecipeParameter(phrase.name, _type(phrase.text, source), phrase.text)
        for phrase in phrases(source.goal)
        if source.plan_contains(phrase.text) and not source.is_fixed(phrase.text)
    ]
    named = {parameter.default for parameter in parameters}
    given = [name for name in source.files if name not in named]
    files = [RecipeParameter(_file_name(name), "file", name, "a file given with the goal") for name in given]
    return _with_free_names([*parameters[:MOST_FOUND], *files], source)


def named_parameters(
    texts: Mapping[str, str], source: RecipeSource, found: Sequence[RecipeParameter]
) -> list[RecipeParameter]:
    """Return the parameters found and those that a person names by their texts; raises if a text does not occur."""
    faults = [fault for fault in map(name_fault, texts) if fault]
    for text in texts.values():
        if not text.strip() or not (_contains(source.goal, text) or source.plan_contains(text)):
            faults.append(f"{text!r} is neither in the goal nor in its plan")
        elif source.is_fixed(text):
            faults.append(f"{text!r} is in a condition or an output schema of the plan, where values cannot go")
    if faults:
        raise RecipeValueError(
            f"a parameter is invalid: {'; '.join(faults)}", hint="give NAME=TEXT, where TEXT is words of the goal"
        )
    kept = [
        parameter
        for parameter in found
        if parameter.name not in texts and not _overlaps(parameter.default or "", texts.values())
    ]
    return [*kept, *(RecipeParameter(name, _type(text, source), text) for name, text in texts.items())]


def made_recipe(name: str, source: RecipeSource, parameters: Sequence[RecipeParameter]) -> Recipe:
    """Return the recipe of a goal with these parameters."""
    names = {parameter.default: parameter.name for parameter in parameters if parameter.default}
    files = {path.name: names[given] for given, path in source.files.items() if given in names}
    plan = plan_texts.with_parameters(source.plan, {**files, **names})
    goal = plan_texts.with_braces(source.goal, names)
    return Recipe(name, goal, tuple(parameters), plan, run_id=source.run_id)


def words_beyond_goal(source: RecipeSource) -> list[str]:
    """Return names, years and files in the plan that the goal does not mention: every use would mention them."""
    mentioned = {token.folded for text in (source.goal, *source.files) for token in _tokens(text)}
    skills = {str(task.get("name")) for task in source.plan.get("tasks") or () if isinstance(task, dict)}
    beyond: dict[str, None] = {}
    for text in (*plan_texts.texts(source.plan), *plan_texts.fixed_texts(source.plan)):
        tokens = _tokens(re.sub(r"<<[^<>]*>>", " ", text))
        for previous, token in zip((None, *tokens), tokens, strict=False):
            begins = (
                previous is None or previous.text in (*_SENTENCE_ENDS, ")") or previous.kind in ("number", "quoted")
            )
            is_year = token.kind == "number" and re.fullmatch(r"[12]\d{3}", token.text) is not None
            is_name = token.is_name and not begins and not token.text.isupper()
            if not (token.kind == "path" or is_year or is_name):
                continue
            if token.folded not in mentioned and token.text not in skills and token.text not in _FORMATS:
                beyond[token.text] = None
    return list(beyond)


def phrases(goal: str) -> list[_Phrase]:
    """Return the words of a goal that may be parameters: files, numbers, quotations, names and topics, in order."""
    tokens = _tokens(goal)
    names: dict[str, str] = {}
    for first, last, preposition in _spans(tokens):
        text = goal[tokens[first].start : tokens[last].end]
        if tokens[first].kind == "quoted":
            text = text[1:-1]
        if text.casefold() not in (known.casefold() for known in names):
            names[text] = _free_name(_phrase_name(tokens, last, preposition), names.values())
    return [_Phrase(text, name) for text, name in names.items()]


def _spans(tokens: Sequence[_Token]) -> Iterator[tuple[int, int, str]]:
    """Yield the first and last token of each phrase, and the preposition before it."""
    verb = next((number for number, token in enumerate(tokens) if token.is_content), None)
    preposition, number = "", 0
    while number < len(tokens):
        token = tokens[number]
        if token.is_typed:
            yield number, number, preposition
            preposition = ""
        elif number == verb:
            preposition = "verb" if _TOPIC_VERBS.fullmatch(token.folded) else ""
        elif token.folded in _PREPOSITIONS:
            preposition = token.folded
        elif token.is_content:
            last = number
            while last + 1 < len(tokens) and tokens[last + 1].is_content:
                last += 1
            # "version 1.2": the number may differ, and the word before it may not.
            before_value = last + 1 < len(tokens) and tokens[last + 1].kind in ("number", "path")
            product = tokens[last].folded.removesuffix("s") in _PRODUCTS
            if preposition and not before_value and not product:
                yield number, last, preposition
            else:
                yield from ((first, end, "") for first, end in _names(tokens, number, last))
            preposition, number = "", last
        elif token.folded not in _ARTICLES and token.text != ",":
            preposition = preposition if token.folded in ("and", "or") else ""
        number += 1


def _names(tokens: Sequence[_Token], first: int, last: int) -> Iterator[tuple[int, int]]:
    """Yield the runs of capitalised words, except at the beginning of a sentence."""
    start: int | None = None
    for number in range(first, last + 2):
        begins = number == 0 or (number < len(tokens) and tokens[number - 1].text in _SENTENCE_ENDS)
        is_name = number <= last and tokens[number].is_name and not begins
        if is_name and start is None:
            start = number
        elif not is_name and start is not None:
            yield start, number - 1
            start = None


def _phrase_name(tokens: Sequence[_Token], last: int, preposition: str) -> str:
    token = tokens[last]
    match token.kind:
        case "path":
            return "url" if "://" in token.text else "file"
        case "number":
            unit = tokens[last + 1] if last + 1 < len(tokens) else None
            return _slug(unit.text, "number") if unit is not None and unit.is_content else "number"
        case "quoted":
            return "text"
    if preposition in ("about", "on"):
        return "topic"
    if preposition == "into" and token.is_name:
        return "language"
    return _slug(token.text, "text")


def _tokens(text: str) -> list[_Token]:
    return [_Token(match.group(), *match.span(), match.lastgroup) for match in _TOKEN.finditer(text)]  # type: ignore[arg-type]


def _type(text: str, source: RecipeSource) -> ParameterType:
    if text in source.files:
        return "file"
    return "number" if number_in(text) is not None else "text"


def _with_free_names(parameters: Sequence[RecipeParameter], source: RecipeSource) -> list[RecipeParameter]:
    """Return the parameters with unique names that are not already in braces in the goal or the plan."""
    taken = {name for text in (source.goal, *plan_texts.texts(source.plan)) for name in _BRACED.findall(text)}
    renamed: list[RecipeParameter] = []
    for parameter in parameters:
        name = _free_name(parameter.name, taken)
        taken.add(name)
        renamed.append(replace(parameter, name=name))
    return renamed


def _free_name(name: str, taken: Iterable[str]) -> str:
    used, free, number = set(taken), name, 2
    while free in used:
        free, number = f"{name}_{number}", number + 1
    return free


def _file_name(path: str) -> str:
    return _slug(path.rsplit("/", 1)[-1].rsplit(".", 1)[0], "file")


def _slug(text: str, default: str) -> str:
    slug = re.sub(r"[^a-z0-9]+", "_", text.casefold()).strip("_")[:30]
    return slug if slug and slug[0].isalpha() else default


def _contains(text: str, words: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text, re.IGNORECASE) is not None


def _overlaps(own: str, texts: Iterable[str]) -> bool:
    return any(own.casefold() in text.casefold() or text.casefold() in own.casefold() for text in texts)
