"""Short texts with their translations, from the localisation files of programs and from sentence pairs."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from training.phrases import size
from training.repositories import files, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from training.repositories import File

LANGUAGES = ("zh", "de", "fr", "es", "ja", "ru")
# How localisation files name them, in their paths; Chinese in simplified characters only.
_CODES = {"en": "en", "en-us": "en", "zh": "zh", "zh-cn": "zh", "zh-hans": "zh", "de": "de", "de-de": "de", "fr": "fr",
          "fr-fr": "fr", "es": "es", "es-es": "es", "ja": "ja", "ja-jp": "ja", "ru": "ru", "ru-ru": "ru",
          "qps-ploc": "en"}  # fmt: skip
_CODE = re.compile(
    r"(?<![A-Za-z])(en[-_]US|en|zh[-_]CN|zh[-_]hans|zh|de[-_]DE|de|fr[-_]FR|fr|es[-_]ES|es|ja[-_]JP|ja|ru[-_]RU|ru|qps-ploc)"
    r"(?=[/.])",
    re.IGNORECASE,
)
# The pseudo-language is English with other letters.
_PSEUDO = str.maketrans("ÆæþÞçÇðÐëËïÏ£ñÑøØµÿ¥§štµÜüßÅåÖö", "AabBcCdDeEiILnNoOuyYSstuUuBAaOo")
_PLACEHOLDER = re.compile(r"\$?\{+[^{}]*\}+|%\(\w+\)[sd]|%[sd\d]|<[^<>]*>|\$\(\w+\)|&&|\\n|\n|https?://\S+|\[\[|\]\]")
_TATOEBA = {"cmn": "zh", "deu": "de", "fra": "fr", "spa": "es", "jpn": "ja", "rus": "ru"}
_PO = re.compile(r'^msgid ((?:".*"\n)+)msgstr ((?:".*"\n?)+)', re.MULTILINE)
LONGEST = 60


class Translation(NamedTuple):
    """A text in English and in another language."""

    language: str
    english: str
    other: str


def translations(clones: Path) -> Iterator[Translation]:
    """All translations of the listed repositories, each once."""
    seen: set[tuple[str, str]] = set()
    for one in _all(clones):
        english, other = _plain(one.english), _plain(one.other)
        known = (one.language, other.lower())
        if (
            known in seen
            or english.lower() == other.lower()
            or not 1 <= size(english) <= LONGEST
            or size(other) > LONGEST
        ):
            continue
        if re.search(r"[^\W\d_]{2}", english) and re.search(r"[^\W\d_]", other):
            seen.add(known)
            yield Translation(one.language, english, other)


def _all(clones: Path) -> Iterator[Translation]:
    for repository in listed("translations"):
        groups: dict[str, dict[str, list[File]]] = defaultdict(lambda: defaultdict(list))
        for file in files(clones, repository.name, _localised):
            code = _CODE.findall(file.path)[-1].lower().replace("_", "-")
            groups[_CODE.sub("*", file.path)][_CODES[code]].append(file)
        for group in groups.values():
            yield from _of_group(group)
    for repository in listed("sentences"):
        yield from _of_sentences(clones, repository.name)


def _localised(path: str) -> bool:
    return path.endswith((".json", ".resjson", ".po")) and _CODE.search(path) is not None and "node_modules" not in path


def _of_group(group: Mapping[str, list[File]]) -> Iterator[Translation]:
    english = {key: text for file in group.get("en", ()) for key, text in strings(file)}
    for language in LANGUAGES:
        for file in group.get(language, ()):
            if file.path.endswith(".po"):
                yield from (Translation(language, source, text) for source, text in po_strings(file.text))
            else:
                yield from (Translation(language, english[key], text) for key, text in strings(file) if key in english)


def strings(file: File) -> Iterator[tuple[str, str]]:
    """The texts of a JSON file, by their keys without the language that may be the first."""
    try:
        document = json.loads(file.text.lstrip("\ufeff"))
    except ValueError:
        return
    if isinstance(document, dict) and len(document) == 1 and next(iter(document)).lower().replace("_", "-") in _CODES:
        document = next(iter(document.values()))
    pseudo = "qps-ploc" in file.path
    for key, text in _leaves(document, ""):
        yield key, text.translate(_PSEUDO) if pseudo else text


def _leaves(value: Any, key: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(inner, f"{key}\0{name}")


def po_strings(text: str) -> Iterator[tuple[str, str]]:
    """The messages of a gettext file with their translations."""
    for source, target in _PO.findall(text):
        both = ["".join(re.findall(r'^"(.*)"$', part, re.MULTILINE)).replace('\\"', '"') for part in (source, target)]
        if all(both):
            yield both[0], both[1]


def _of_sentences(clones: Path, repository: str) -> Iterator[Translation]:
    pairs: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for file in files(
        clones, repository, lambda path: re.search(r"tatoeba\.\w{3}-eng\.|(?:^|/)(?:cmn|jpn)\.txt$", path) is not None
    ):
        lines = file.text.splitlines()
        if found := re.search(r"tatoeba\.(\w{3})-eng\.(\w{3})$", file.path):
            if found[1] in _TATOEBA:
                pairs[_TATOEBA[found[1]]]["en" if found[2] == "eng" else "other"] = lines
        else:
            language = _TATOEBA[file.path[-7:-4]]
            split = [line.split("\t") for line in lines]
            yield from (Translation(language, row[0], row[1]) for row in split if len(row) > 1)
    for language, both in pairs.items():
        yield from (Translation(language, *row) for row in zip(both["en"], both["other"], strict=True))


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", _PLACEHOLDER.sub(" ", text)).strip()


def everyday(clones: Path) -> Iterator[str]:
    """English sentences and requests of everyday life, which need no skill."""
    for repository in listed("sentences"):
        for file in files(clones, repository.name, lambda path: path.endswith("data/data_full.json")):
            for rows in json.loads(file.text).values():
                yield from (text for text, _ in rows)
