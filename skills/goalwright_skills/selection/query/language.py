"""Detects the language of a goal and of the skills.

Skills are found by their words, so a goal in German finds little among skills described in English. A caller with a
model can ask it for keywords in the language of the skills.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from goalwright_skills.selection.query.terms import STOP_WORDS, dense, terms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from goalwright_skills.skill import Skill

# Scripts that imply a language, or at least one other than English. Han alone is Chinese, with kana it is Japanese.
_SCRIPTS = {
    "Japanese": "\u3040-\u30ff\u31f0-\u31ff",
    "Korean": "\uac00-\ud7af\u1100-\u11ff",
    "Chinese": "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff",
    "Russian": "\u0400-\u052f",
    "Greek": "\u0370-\u03ff",
    "Arabic": "\u0600-\u06ff\u0750-\u077f",
    "Hebrew": "\u0590-\u05ff",
    "Hindi": "\u0900-\u097f",
    "Thai": "\u0e00-\u0e7f",
}
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W\d_]+")
# Function words: frequent in their language and rare in others.
_FUNCTION_WORDS = {
    "German": "der die das den dem des ein eine einen einem einer und oder nicht mit für von zu im auf ist sind wird "
    "werden wie was welche welcher welches wenn bitte mir mich wir uns unser unsere unserer unserem mein meine meinen "
    "meiner meinem meines dein deine ihr ihre ihrer sein seine seiner dieser diese dieses diesen diesem jede jeder "
    "aus bei nach über zwischen zum zur auch noch als soll sollen kann können ich du es sie an am dass habe haben hat "
    "brauche braucht vom um "
    "schreibe schreib erstelle erkläre vergleiche fasse zusammen übersetze prüfe finde mache gib nenne zeige zwei drei",
    "French": "le la les un une des du de et ou ne pas avec pour dans sur est sont par que qui quoi quel quelle quels "
    "quelles nous vous mon ma mes notre nos ce cette ces aux au en comment je il elle se son sa ses entre plus faire "
    "écris rédige explique résume traduis vérifie trouve donne crée deux trois",
    "Spanish": "el la los las un una unos unas y o no con para por en de del al es son que qué cómo cuál nuestro "
    "nuestra mi mis este esta estos estas entre se su sus lo como más sobre desde hasta quiero hacer "
    "escribe redacta explica traduce revisa busca crea tres",
    "Portuguese": "o a os as um uma uns umas e ou não com para por em de do da dos das no na nos nas é são que como "
    "qual nosso nossa meu minha este esta estes estas entre se seu sua mais sobre ao quero fazer "
    "escreva redija traduza verifique encontre crie dois três",
    "Italian": "il lo la i gli le un uno una e o non con per in di del della dei delle da dal al alla è sono che come "
    "quale nostro nostra mio mia questo questa questi queste tra fra si suo sua più su sul nel nella voglio fare "
    "scrivi spiega confronta riassumi traduci verifica trova crea tre",
    "Dutch": "de het een en of niet met voor van in op is zijn wordt worden hoe wat welke deze dit die ons onze mijn "
    "uit bij naar over tussen aan ook nog als moet kan ik we je dat te om door maak "
    "schrijf vergelijk vertaal controleer zoek geef twee drie",
    "Polish": "i w z na do że się nie jest są jak co który która które dla od po przez nasz nasze mój moje ten ta te",
    "Swedish": "och att det som en ett på är av för med till den inte om vi vår vårt mitt min jag hur vilken från",
    "Turkish": "ve bir bu için ile olan nasıl hangi bizim benim mi mı da de olarak daha",
}
_LETTERS = {
    "German": frozenset("äöüß"),
    "Spanish": frozenset("ñ¿¡áíóú"),
    "Portuguese": frozenset("ãõ"),
    "French": frozenset("éèêçàùîôœ"),
    "Polish": frozenset("łąęśźżćń"),
    "Swedish": frozenset("å"),
    "Turkish": frozenset("ışğ"),
}
_ENGLISH = STOP_WORDS | {"compare", "write", "create", "find", "summarize", "review", "explain", "build", "list", "add"}
_TABLES = {
    "English": frozenset(_ENGLISH),
    **{name: frozenset(words.split()) for name, words in _FUNCTION_WORDS.items()},
}
# The number of descriptions that are sampled for the language of a pool, and of characters for that of a goal.
_SAMPLE, _BEGINNING = 60, 2_000
# The share of a goal's words in the skills' descriptions from which the goal counts as familiar in any language; lower
# for character pairs, since most of them are not words.
_FAMILIAR, _FAMILIAR_DENSE = 0.6, 0.25
# The share of descriptions in a language from which it is one of the skills' languages.
_SPOKEN = 0.3


@dataclass(frozen=True, slots=True)
class Foreign:
    """The English names of a goal's language and the skills' different language.

    The goal is `familiar` if the skills' descriptions contain most of its words, such as names and technical terms.
    """

    goal: str
    skills: str
    familiar: bool = False

    @property
    def note(self) -> str:
        """A warning that explains why no skill fits."""
        return (
            f"no skill fits, which may be because of the language: the goal is in {self.goal}, the skills are "
            f"described in {self.skills}, and skills are found by their words; write the goal in {self.skills}, or "
            "name a skill"
        )


@lru_cache(maxsize=1_000)  # the same descriptions are read in each run of a process
def language(text: str) -> str:
    """Return the English name of a text's language, by its script or its function words; empty if unknown."""
    if not text.isascii() and (name := _by_script(text)):
        return name
    words = {word for word in _WORD.findall(text.lower()) if len(word) > 1}
    counts = {name: len(words & table) for name, table in _TABLES.items()}
    best = max(counts, key=counts.__getitem__)
    if counts[best] > counts["English"]:
        return best
    return "English" if counts["English"] else _by_letters(text)


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    """Compile on first use, since most texts are in Latin letters."""
    return {name: re.compile(f"[{span}]") for name, span in _SCRIPTS.items()}


def _by_script(text: str) -> str:
    """Return the language of a script that a good part of the text is in."""
    scripts = {name: len(pattern.findall(text)) for name, pattern in _patterns().items()}
    # A character of these scripts carries as much as several letters.
    weight = sum(scripts.values())
    if not weight or 3 * weight < len(_LETTER.findall(text)) - weight:
        return ""
    east = scripts["Chinese"] + scripts["Japanese"]
    if scripts["Japanese"] and east >= max(scripts.values()):
        return "Japanese"
    return max(scripts, key=scripts.__getitem__)


def _by_letters(text: str) -> str:
    """Return the language of a few words by their special letters."""
    return next((name for name, letters in _LETTERS.items() if not letters.isdisjoint(text.lower())), "")


def other_language(text: str) -> str:
    """Return the language of a text unless it is English, by the start of the text; empty if unknown."""
    name = language(text[:_BEGINNING])
    return name if name != "English" else ""


def languages(texts: Iterable[str]) -> list[str]:
    """Return the languages of a good part of the texts, most frequent first."""
    counts = Counter(filter(None, map(language, texts)))
    total = sum(counts.values())
    return [name for name, count in counts.most_common() if count >= _SPOKEN * total]


def described_in(skills: Sequence[Skill]) -> list[str]:
    """Return the languages of the skills' descriptions, by a sample."""
    step = max(1, len(skills) // _SAMPLE)
    return languages(skill.description for skill in skills[::step])


def foreign(goal: str, described: Sequence[str], count_known: Callable[[Sequence[str]], int]) -> Foreign | None:
    """Return the languages of goal and skills, if the skills are not `described` in the goal's language.

    `count_known` counts the terms that occur in some description.
    """
    goal_language = language(goal[:_BEGINNING])
    if not goal_language or not described or goal_language in described:
        return None
    words = list(dict.fromkeys(terms(goal)))
    share = _FAMILIAR_DENSE if 2 * sum(map(dense, words)) > len(words) else _FAMILIAR
    return Foreign(goal_language, described[0], familiar=count_known(words) >= share * len(words))
