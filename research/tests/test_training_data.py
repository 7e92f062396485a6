from __future__ import annotations

import hashlib
import json

from training import bundle, everyday_requests, requests
from training.examples import example
from training.exclusion import Exclusion, digest, shingles
from training.extract import TrainingSkill
from training.pairs import pairs
from training.phrases import of_body, of_description, size
from training.repositories import File, listed
from training.translations import po_strings, strings
from training.vocabulary import frequent, runs

DESCRIPTION = (
    "Turns tables of numbers into charts that people can read at once. Use when the user wants to plot sales data."
)


def test_a_skill_is_kept_back_by_its_name_its_folder_and_its_description() -> None:
    none = Exclusion(frozenset(), frozenset())
    kept_back = none.with_skills([("chart-maker", DESCRIPTION)])
    assert not none.reason("chart-maker", "a/SKILL.md", DESCRIPTION)
    assert kept_back.reason("Chart Maker", "a/SKILL.md", "Something else") == "name"
    assert kept_back.reason("other", "x/chart_maker/SKILL.md", "Something else") == "name"
    assert kept_back.reason("other", "a/SKILL.md", f"{DESCRIPTION} And more.") == "description"
    assert not kept_back.reason("other", "a/SKILL.md", "Reads tables of numbers aloud to people who cannot see them.")


def test_a_run_of_six_words_is_listed_by_half_of_its_hash() -> None:
    assert shingles("One, two; three four-five SIX") == {digest("one two three four five six")}
    assert digest("a") == hashlib.sha256(b"a").hexdigest()[:16]


def test_phrases_lose_what_leads_to_them() -> None:
    assert ("trigger", "plot sales data") in list(of_description(DESCRIPTION))
    assert ("part", "制作图表") in list(of_description("触发词：制作图表、分析销售数据"))
    body = '## When to use\n\n- User asks: "plot my sales by month"\n\n## Not\n\ntext\n'
    assert ("asked", "plot my sales by month") in list(of_body(body))


def test_two_characters_of_a_script_without_spaces_count_as_a_word() -> None:
    assert size("plot 销售数据") == 3


def test_a_phrase_of_many_skills_makes_no_pair() -> None:
    skills = [
        TrainingSkill("r", f"{at}/SKILL.md", f"s{at}", f"Common sentence of all skills. Own words {at} of it.", (), "")
        for at in range(4)
    ]
    assert {pair.phrase for pair in pairs(skills)} == {f"Own words {at} of it" for at in range(4)}


def test_an_example_lacks_the_phrase_and_shares_fewer_words() -> None:
    made = example(["chart-maker", DESCRIPTION, ""], "trigger", "plot sales data with a chart")
    whole = example(["chart-maker", DESCRIPTION, ""], "trigger", "plot sales data")
    assert "chart" not in made.without_name
    assert "plot sales data" not in whole.short


def test_texts_are_found_by_key_in_json_and_gettext_files() -> None:
    file = File("r", "de.json", json.dumps({"de": {"a": {"b": "Datei öffnen"}}}))
    assert dict(strings(file)) == {"\0a\0b": "Datei öffnen"}
    pseudo = File("r", "vscode-language-pack-qps-ploc/x.json", json.dumps({"a": "Æðð Rëmøtë"}))
    assert dict(strings(pseudo)) == {"\0a": "Add Remote"}
    assert list(po_strings('msgid "Open"\nmsgstr "Öffnen"\n\nmsgid "Not yet"\nmsgstr ""\n')) == [("Open", "Öffnen")]


def test_runs_that_hang_together_are_entries() -> None:
    others = "".join(map(chr, range(0x4E00, 0x4E00 + 400)))
    found = runs(["看数据吧", "我数据你", others] * 20, 10_000)
    assert "数据" in found
    assert "看我" not in found


def test_every_repository_is_listed_with_a_licence() -> None:
    assert all(one.licence for use in ("skills", "translations", "sentences") for one in listed(use))


def test_frequent_words_of_skills_come_first_and_rare_ones_are_no_entries() -> None:
    found = list(frequent([*["Deploy with C++ on AWS"] * 4, *["AWS docs"] * 4, "unique"]))
    assert found[0] == "aws"
    assert set(found) == {"aws", "deploy", "with", "c++", "on", "docs"}


def test_requests_are_asked_for_english_skills_and_read_line_by_line() -> None:
    prompts = list(requests.to_write([["chart-maker", DESCRIPTION, "", "en"], ["图表", "制作图表", "", "zh"]]))
    assert {prompt.skill for prompt in prompts} == {0}
    answer = '1. "my numbers as a picture"\n2) zu kurz\n3. 把数字画成图给老板看一下\n1. twice the same number\nSure!'
    written = requests.written((prompt, answer) for prompt in prompts)
    assert written == {0: ["my numbers as a picture"]}


def test_a_translation_in_the_wrong_script_is_left_out() -> None:
    prompts = list(requests.to_translate({at: ["my numbers as a picture"] for at in range(40)}))
    right = {"de": "meine Zahlen als Bild", "es": "mis números en una imagen", "fr": "mes chiffres en image"}
    answers = [(prompt, f"1. {right.get(prompt.language, '把我的数字画成图')}") for prompt in prompts]
    wrong = [(prompt, "1. my numbers as a picture") for prompt in prompts]
    found = requests.translated([*answers[:20], *wrong[20:]])
    assert {place for place, _ in found} == set(range(20))
    joined = requests.joined({1: ["my numbers as a picture", "once"], 2: ["once"], 3: ["once"]}, found)
    assert [(one.skill, one.english, one.other) for one in joined] == [
        (1, "my numbers as a picture", answers[1][1].removeprefix("1. "))
    ]


def test_everyday_messages_are_asked_for_by_subject_and_form_and_kept_once() -> None:
    prompts = list(everyday_requests.to_write())
    assert len({prompt.turns[-1]["content"] for prompt in prompts}) * everyday_requests.ROUNDS == len(prompts)
    messages = everyday_requests.written(
        (prompt, f"1. What goes with pumpkin soup?\n2. ok\n3. And message {prompt.skill}") for prompt in prompts[:3]
    )
    assert messages == {
        0: ["What goes with pumpkin soup?", "And message 0"], 1: ["And message 1"], 2: ["And message 2"]
    }  # fmt: skip
    translated = {(0, "And message 0"): ("de", "Und Nachricht 0")}
    joined = everyday_requests.joined(messages, translated)
    assert [(one.english, one.other) for one in joined][:2] == [
        ("What goes with pumpkin soup?", ""), ("And message 0", "Und Nachricht 0")
    ]  # fmt: skip
    assert everyday_requests.counted(joined) == {"en": 4, "de": 1}


def test_what_is_written_stands_beside_what_a_bundle_has() -> None:
    document = {"pairs": [[0, "use", "draw"]], "everyday": ["hello"], "translations": [["de", "yes", "ja"]]}
    written = {
        "requests": [[3, "my numbers as a picture", "de", "meine Zahlen als Bild"], [4, "once", "", ""]],
        "everyday": [["good night", "fr", "bonne nuit"], ["good morning", "", ""]],
    }
    found = bundle.with_written(document, written)
    assert found["pairs"][1:] == [[3, "request", "my numbers as a picture"], [4, "request", "once"]]
    assert found["everyday"] == ["hello", "good night", "good morning"]
    assert found["translations"][1:] == [
        ["de", "my numbers as a picture", "meine Zahlen als Bild"],
        ["fr", "good night", "bonne nuit"],
    ]
    assert document["everyday"] == ["hello"]
