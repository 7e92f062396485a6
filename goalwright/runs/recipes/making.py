"""Makes a recipe of a goal and its plan: which words of the goal are parameters, and where they stand in the plan."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from goalwright.runs.recipes import plan_texts
from goalwright.runs.recipes.pattern import Pattern
from goalwright.runs.recipes.phrases import phrases
from goalwright.runs.recipes.recipe import Recipe, RecipeParameter, RecipeValueError, SkillHash, name_fault, number_in
from goalwright.runs.recipes.words import Word, words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from goalwright.runs.recipes.phrases import Phrase
    from goalwright.runs.recipes.recipe import ParameterType

# Names of forms and languages, which a plan for any goal may ask for.
_FORMATS = frozenset(
    ("Markdown", "Python", "English", "JavaScript", "Excel", "Word", "Unicode", "Git", "GitHub", "Bash")
)
_BRACED = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class RecipeSource:
    """What a recipe is made of: a goal, its plan as a document, and the files that were given, by their names."""

    goal: str
    plan: Mapping[str, Any]
    files: Mapping[str, Path] = field(default_factory=dict)
    run_id: str = ""

    def stands(self, text: str) -> bool:
        """Whether the plan has these words."""
        return any(_finds(text, told) for told in plan_texts.texts(self.plan))

    def compares(self, text: str) -> bool:
        """Whether a condition or a form of the plan has these words: another value would not reach them."""
        return any(_finds(text, told) for told in plan_texts.fixed_texts(self.plan))

    def tells(self, phrase: Phrase) -> bool:
        """Whether the plan has a phrase wherever it may depend on it, and nowhere else.

        A file, a number or a name has only to stand in it. Other words must stand in every task that a model begins
        with: one without them may have been thought out for them.
        """
        if self.compares(phrase.text):
            return False
        if phrase.typed or any(word.is_name for word in words(phrase.text)):
            return self.stands(phrase.text)
        tasks = [task for task in self.plan.get("tasks") or () if task.get("action_type") != "tool"]
        own = {task.get("id") for task in tasks}
        roots = [task for task in tasks if own.isdisjoint(task.get("depends_on") or ())]
        return all(
            any(_finds(phrase.text, told) for told in plan_texts.texts({"tasks": [task]})) for task in roots
        ) and bool(roots)


def found_parameters(source: RecipeSource) -> list[RecipeParameter]:
    """The parameters that a goal and its plan show: words of the goal that stand in the plan, and files given.

    Of the words, the last ones are left as they are where too few would be left to recognise the goal by.
    """
    kept = {one.text.casefold(): one for one in phrases(source.goal) if source.tells(one)}
    chosen = [_parameter(one, source) for one in kept.values()]
    while chosen and not _pattern(source.goal, chosen).is_telling:
        loose = [one for one in chosen if one.type == "text" and not _is_typed(one)]
        if not loose:
            break
        chosen.remove(loose[-1])
    named = {one.default for one in chosen}
    given = [name for name in source.files if name not in named]
    return _renamed(
        [*chosen, *(RecipeParameter(_file_name(name), "file", name, "a file given with it") for name in given)], source
    )


def named_parameters(
    given: Mapping[str, str], source: RecipeSource, found: Sequence[RecipeParameter]
) -> list[RecipeParameter]:
    """The parameters found, and those that a person names by the text that they stand for; raises if it is nowhere."""
    faults = [fault for fault in map(name_fault, given) if fault]
    faults += [
        f"{text!r} stands neither in the goal nor in its plan"
        for text in given.values()
        if not (text.strip() and (_finds(text, source.goal) or source.stands(text)))
    ]
    faults += [
        f"{text!r} stands in a condition or a form of the plan, where a value does not go"
        for text in given.values()
        if text.strip() and source.compares(text)
    ]
    if faults:
        raise RecipeValueError(
            f"a parameter cannot be made: {'; '.join(faults)}", hint="give NAME=TEXT, words of the goal"
        )
    others = [one for one in found if one.name not in given and not _overlaps(one, given.values())]
    more = [RecipeParameter(name, _type(text, source), text) for name, text in given.items()]
    return [*others, *more]


def made(name: str, source: RecipeSource, parameters: Sequence[RecipeParameter]) -> Recipe:
    """The recipe of a goal with these parameters."""
    texts = {one.default: one.name for one in parameters if one.default}
    files = {path.name: texts[given] for given, path in source.files.items() if given in texts}
    plan = plan_texts.with_parameters(source.plan, {**files, **texts})
    return Recipe(name, _pattern(source.goal, parameters).text, tuple(parameters), plan, run_id=source.run_id)


def shareable(name: str, source: RecipeSource) -> Recipe | None:
    """The recipe of a plan that nobody looks at before it is used again; None if it is made for this goal alone."""
    if said_besides(source):
        return None
    recipe = made(name, source, found_parameters(source))
    tasks = [task for task in source.plan.get("tasks") or () if task.get("action_type") == "skill"]
    return replace(recipe, skills=tuple(SkillHash(one) for one in dict.fromkeys(task["name"] for task in tasks)))


def said_besides(source: RecipeSource) -> list[str]:
    """Names, years and files in the plan that the goal lacks: it is made for this goal, not for any like it."""
    known = {word.term for text in (source.goal, *source.files) for word in words(text)}
    named = {str(task.get("name")) for task in source.plan.get("tasks") or () if isinstance(task, dict)}
    found: dict[str, None] = {}
    for text in (*plan_texts.texts(source.plan), *plan_texts.fixed_texts(source.plan)):
        told = words(re.sub(r"<<[^<>]*>>", " ", text))
        for before, word in zip((None, *told), told, strict=False):
            begins = (
                before is None or before.text in (".", "!", "?", ":", "\n", ")") or before.kind in ("number", "quoted")
            )
            special = word.kind == "path" or _is_year(word) or (word.is_name and not begins and not word.text.isupper())
            if special and word.term not in known and word.text not in named and word.text not in _FORMATS:
                found[word.text] = None
    return list(found)


def _is_year(word: Word) -> bool:
    return word.kind == "number" and re.fullmatch(r"[12]\d{3}", word.text) is not None


def _pattern(goal: str, parameters: Sequence[RecipeParameter]) -> Pattern:
    """The goal with the parameters in place of their texts, the longest first."""
    texts = {one.default.casefold(): one.name for one in parameters if one.default}
    ordered = sorted(texts, key=len, reverse=True)
    text = goal
    if ordered:
        finder = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, ordered))})(?!\w)", re.IGNORECASE)
        text = finder.sub(lambda match: f"{{{texts[match[0].casefold()]}}}", goal)
    return Pattern(text, {one.name: one.default or "" for one in parameters})


def _parameter(phrase: Phrase, source: RecipeSource) -> RecipeParameter:
    return RecipeParameter(phrase.name, _type(phrase.text, source), phrase.text)


def _type(text: str, source: RecipeSource) -> ParameterType:
    if text in source.files:
        return "file"
    return "number" if number_in(text) is not None else "text"


def _is_typed(parameter: RecipeParameter) -> bool:
    only = words(parameter.default or "")
    return len(only) == 1 and only[0].is_typed


def _renamed(parameters: Sequence[RecipeParameter], source: RecipeSource) -> list[RecipeParameter]:
    """The parameters with names that are not in braces in the goal or the plan already, each once."""
    taken = {name for text in (source.goal, *plan_texts.texts(source.plan)) for name in _BRACED.findall(text)}
    kept: list[RecipeParameter] = []
    for parameter in parameters:
        name, number = parameter.name, 2
        while name in taken:
            name, number = f"{parameter.name}_{number}", number + 1
        taken.add(name)
        kept.append(replace(parameter, name=name))
    return kept


def _file_name(path: str) -> str:
    stem = re.sub(r"[^a-z0-9]+", "_", path.rsplit("/", 1)[-1].rsplit(".", 1)[0].casefold()).strip("_")[:30]
    return stem if stem and stem[0].isalpha() else "file"


def _finds(text: str, where: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(text)}(?!\w)", where, re.IGNORECASE) is not None


def _overlaps(parameter: RecipeParameter, texts: Sequence[str] | Any) -> bool:
    own = (parameter.default or "").casefold()
    return any(own in text.casefold() or text.casefold() in own for text in texts)
