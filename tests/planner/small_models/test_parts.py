"""The parts of a goal: divided if its words are clear, and whole otherwise."""

from __future__ import annotations

import pytest

from goalwright_planner.small_models.coverage import missing
from goalwright_planner.small_models.parts import MOST_PARTS, parts_of

Parts = list[tuple[str, tuple[int, ...]]]


def parts(goal: str) -> Parts:
    return [(part.text, part.after) for part in parts_of(goal).parts]


def apart(*texts: str) -> Parts:
    """Return parts that do not need each other."""
    return [(text, ()) for text in texts]


ASKED_ONE_BY_ONE: list[tuple[str, Parts]] = [
    (
        "Write a haiku about rain, list the first ten prime numbers, and explain recursion in two sentences.",
        apart("Write a haiku about rain.", "List the first ten prime numbers.", "Explain recursion in two sentences."),
    ),
    (
        "Write a limerick about a cat; give three facts about cats; and make a care checklist for new cat owners.",
        apart(
            "Write a limerick about a cat.",
            "Give three facts about cats.",
            "Make a care checklist for new cat owners.",
        ),
    ),
    ("write a haiku,list three primes,explain dns", apart("Write a haiku.", "List three primes.", "Explain dns.")),
    ("Can you please write a haiku and also list three primes?", apart("Write a haiku.", "List three primes.")),
    ("Do the following: write a haiku and explain DNS", apart("Write a haiku.", "Explain DNS.")),
    (
        "Write a story about a dog that loses its bone, list three dog breeds, and name two toys",
        apart("Write a story about a dog that loses its bone.", "List three dog breeds.", "Name two toys."),
    ),
    (
        "Create a REST API with users, posts and comments, and write tests",
        apart("Create a REST API with users, posts and comments.", "Write tests."),
    ),
]

THINGS: list[tuple[str, Parts]] = [
    ("a haiku and a prime function", apart("A haiku.", "A prime function.")),
    ("Write a haiku and a prime function in Python", apart("Write a haiku.", "Write a prime function in Python.")),
    ("Write unit tests and a README", apart("Write unit tests.", "Write a README.")),
    ("Give me a joke, a riddle & a fact", apart("Give me a joke.", "Give me a riddle.", "Give me a fact.")),
    ("List 5 animals and 5 plants", apart("List 5 animals.", "List 5 plants.")),
    (
        "Draft an agenda for a team offsite, a packing list for the participants and an invitation email.",
        apart(
            "Draft an agenda for a team offsite.",
            "Draft a packing list for the participants.",
            "Draft an invitation email.",
        ),
    ),
    (
        "I need a logo idea, a slogan and a name for my bakery",
        apart("I need a logo idea for my bakery.", "I need a slogan for my bakery.", "I need a name for my bakery."),
    ),
    (
        "Explain recursion, closures and generators in Python",
        apart("Explain recursion in Python.", "Explain closures in Python.", "Explain generators in Python."),
    ),
    (
        "Summarise the causes of World War I, the main events of it and its consequences",
        apart(
            "Summarise the causes of World War I.",
            "Summarise the main events of World War I.",
            "Summarise the consequences of World War I.",
        ),
    ),
    (
        "Explain what HTTP, DNS and TLS do",
        apart("Explain what HTTP does.", "Explain what DNS does.", "Explain what TLS does."),
    ),
    (
        "List the capital and the population of France",
        apart("List the capital of France.", "List the population of France."),
    ),
    (
        'Translate "good morning, all" into French, German and Italian',
        apart(
            'Translate "good morning, all" into French.',
            'Translate "good morning, all" into German.',
            'Translate "good morning, all" into Italian.',
        ),
    ),
    (
        "Write three things: a haiku and a limerick",
        apart("Write three things: a haiku.", "Write three things: a limerick."),
    ),
    (
        "Create a weekly meal plan, a shopping list for it, and a budget",
        [("Create a weekly meal plan.", ()), ("Create a shopping list for it.", (0,)), ("Create a budget.", ())],
    ),
]

COMPARED: list[tuple[str, Parts]] = [
    (
        "Compare tea, coffee and juice as breakfast drinks and recommend one.",
        [
            *apart(
                "Describe tea as breakfast drinks.",
                "Describe coffee as breakfast drinks.",
                "Describe juice as breakfast drinks.",
            ),
            ("Compare tea, coffee and juice as breakfast drinks and recommend one.", (0, 1, 2)),
        ],
    ),
    ("Compare React and Vue", [*apart("Describe React.", "Describe Vue."), ("Compare React and Vue.", (0, 1))]),
    (
        "Compare tea with coffee for studying",
        [
            *apart("Describe tea for studying.", "Describe coffee for studying."),
            ("Compare tea with coffee for studying.", (0, 1)),
        ],
    ),
    (
        "Compare the plot of Hamlet and Macbeth",
        [
            *apart("Describe the plot of Hamlet.", "Describe the plot of Macbeth."),
            ("Compare the plot of Hamlet and Macbeth.", (0, 1)),
        ],
    ),
    (
        "Research solar panels, heat pumps and insulation, compare their cost, and recommend which to start with.",
        [
            *apart("Research solar panels.", "Research heat pumps.", "Research insulation."),
            ("Compare their cost.", (0, 1, 2)),
            ("Recommend which to start with.", (0, 1, 2, 3)),
        ],
    ),
]

IN_ORDER: list[tuple[str, Parts]] = [
    (
        "Write a poem, list three primes and explain DNS, then write a page from all of it",
        [
            *apart("Write a poem.", "List three primes.", "Explain DNS."),
            ("Write a page from all of it.", (0, 1, 2)),
        ],
    ),
    (
        "Write a poem; then translate it; finally count its words and write a title",
        [("Write a poem.", ()), ("Translate it.", (0,)), ("Count its words.", (1,)), ("Write a title.", ())],
    ),
    ("Write a poem, then shorten it", [("Write a poem.", ()), ("Shorten it.", (0,))]),
    ("Write a poem and translate it into French", [("Write a poem.", ()), ("Translate it into French.", (0,))]),
    (
        "Write a poem; translate the poem into French",
        [("Write a poem.", ()), ("Translate the poem into French.", (0,))],
    ),
    (
        "Write a haiku and a limerick and translate both into French",
        [*apart("Write a haiku.", "Write a limerick."), ("Translate both into French.", (0, 1))],
    ),
    (
        "Write a user guide for the sign-up form, then a short announcement of it",
        [("Write a user guide for the sign-up form.", ()), ("Write a short announcement of it.", (0,))],
    ),
    (
        "Write a story, shorten it and translate it",
        [("Write a story.", ()), ("Shorten it.", (0,)), ("Translate it.", (1,))],
    ),
    (
        "Write a SQL query that joins orders and customers and explain how it works",
        [("Write a SQL query that joins orders and customers.", ()), ("Explain how it works.", (0,))],
    ),
    (
        "Pick a city, describe its history and list its sights",
        [("Pick a city.", ()), ("Describe its history.", (0,)), ("List its sights.", (0,))],
    ),
    (
        "First, summarise the plot of Hamlet. Then, list its main characters. Finally, write a short review.",
        [
            ("Summarise the plot of Hamlet.", ()),
            ("List its main characters.", (0,)),
            ("Write a short review.", (1,)),
        ],
    ),
    (
        "What is a monad? Who invented it? Where is it used?",
        [("What is a monad?", ()), ("Who invented it?", (0,)), ("Where is it used?", (0,))],
    ),
    (
        "Write a poem about a cat, explain why cats purr and how they do it",
        apart("Write a poem about a cat.", "Explain why cats purr and how they do it."),
    ),
    (
        "Define evaporation, define rain, and make a quiz from all of it",
        [*apart("Define evaporation.", "Define rain."), ("Make a quiz from all of it.", (0, 1))],
    ),
    (
        "Write tests for the parser, fix the lexer and document both.",
        [*apart("Write tests for the parser.", "Fix the lexer."), ("Document both.", (0, 1))],
    ),
]

WRITTEN_LISTS: list[tuple[str, Parts]] = [
    (
        "1. Write a function that tells primes.\n2. Write unit tests for it.\n3. Write a README that documents it.",
        [
            ("Write a function that tells primes.", ()),
            ("Write unit tests for it.", (0,)),
            ("Write a README that documents it.", (0,)),
        ],
    ),
    ("Do the following:\n- write a haiku\n- explain DNS", apart("Write a haiku.", "Explain DNS.")),
    ("1) write a haiku 2) list three primes", apart("Write a haiku.", "List three primes.")),
    ("(1) write a haiku, and (2) list three primes", apart("Write a haiku.", "List three primes.")),
    (
        "For our café Luna:\n* a menu\n* a flyer\n\nUse British English.",
        apart("For our café Luna: A menu. Use British English.", "For our café Luna: A flyer. Use British English."),
    ),
    (
        "1. a poem\n2. a song\n\nThen compare the two.",
        [*apart("A poem.", "A song."), ("Compare the two.", (0, 1))],
    ),
    ("1. 写一首俳句\n2. 列出三个质数", apart("写一首俳句。", "列出三个质数。")),
]

FOR_ALL: list[tuple[str, Parts]] = [
    (
        "We launch Luna tea. Write a tweet and an email about it. Keep each under 100 words.",
        apart(
            "We launch Luna tea. Write a tweet about it. Keep each under 100 words.",
            "We launch Luna tea. Write an email about it. Keep each under 100 words.",
        ),
    ),
    ("For my café, write a menu and a flyer", apart("For my café: Write a menu.", "For my café: Write a flyer.")),
    (
        "Summarize this text and translate it into German: The cat sat, then it slept. Write a letter.",
        [
            ("Summarize this text. The cat sat, then it slept. Write a letter.", ()),
            ("Translate it into German: The cat sat, then it slept. Write a letter.", (0,)),
        ],
    ),
]

OTHER_LANGUAGES: list[tuple[str, Parts]] = [
    (
        "Schreibe ein Haiku über Regen, nenne drei Primzahlen und erkläre Rekursion",
        apart("Schreibe ein Haiku über Regen.", "Nenne drei Primzahlen.", "Erkläre Rekursion."),
    ),
    (
        "Schreibe ein Gedicht und eine Geschichte, dann übersetze beides ins Englische",
        [
            *apart("Schreibe ein Gedicht.", "Schreibe eine Geschichte."),
            ("Übersetze beides ins Englische.", (0, 1)),
        ],
    ),
    (
        "Vergleiche Berlin, Hamburg und München und empfiehl eine Stadt",
        [
            *apart("Beschreibe Berlin.", "Beschreibe Hamburg.", "Beschreibe München."),
            ("Vergleiche Berlin, Hamburg und München und empfiehl eine Stadt.", (0, 1, 2)),
        ],
    ),
    (
        "Écris un poème sur la pluie, explique la récursivité et donne trois nombres premiers",
        apart("Écris un poème sur la pluie.", "Explique la récursivité.", "Donne trois nombres premiers."),
    ),
    (
        "Escribe un poema, explica la recursión y luego traduce todo al inglés",
        [*apart("Escribe un poema.", "Explica la recursión."), ("Traduce todo al inglés.", (0, 1))],
    ),
    (
        "写一首俳句，列出三个质数，然后解释递归",
        [*apart("写一首俳句。", "列出三个质数。"), ("解释递归。", (0, 1))],
    ),
    ("Scrivi una poesia, poi traducila in inglese", [("Scrivi una poesia.", ()), ("Traducila in inglese.", (0,))]),
    ("Напиши стихотворение, затем переведи его", [("Напиши стихотворение.", ()), ("Переведи его.", (0,))]),
]


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        *ASKED_ONE_BY_ONE,
        *THINGS,
        *COMPARED,
        *IN_ORDER,
        *WRITTEN_LISTS,
        *FOR_ALL,
        *OTHER_LANGUAGES,
    ],
)
def test_goal_that_lists_parts_is_divided_without_losing_a_word(goal: str, expected: Parts) -> None:
    assert parts(goal) == expected
    assert missing(goal, [text for text, _ in expected]) == []


SIMPLE = [
    "Explain how tides work",
    "Write a haiku about rain.",
    "Explain supply and demand",
    "Write an essay about bread and butter",
    "Make a list of pros and cons of remote work",
    "Write a story about a cat and a dog",
    "Write a dialogue between a cat and a dog",
    "Write a letter to my mother and my father",
    "Plan a trip to Paris and Rome",
    "Design a logo with a cat and a moon",
    "Compare three caches",
    "Compare the advantages and disadvantages of nuclear power",
    "Explain the causes and effects of World War I",
    "Choose between Rust and Go for a CLI tool",
    "Write a script that reads a file and prints the sum",
    "Translate 'I came, I saw, and then I conquered' into French",
    "What is recursion and how does it differ from iteration?",
    "Write an ad for a bike shop. Include the address. Mention the sale.",
    "Continue",
    "Fix the bug",
]


@pytest.mark.parametrize("goal", SIMPLE)
def test_goal_that_is_one_thing_is_one_part(goal: str) -> None:
    found = parts_of(goal)
    assert [part.text for part in found.parts] == [goal]
    assert found.simple


UNCLEAR = [
    "Write API documentation for a service with endpoints GET /todos, POST /todos and DELETE /todos/{id}",
    "Write a story about a cat, a dog and a mouse",
    "Write a Python script to read a file, sort the lines, and then print them",
    "If the number is even, then divide it by two",
    "Describe the relationship between supply, demand and price",
    "Review this essay for grammar, style and tone",
    "Plan a birthday party: guest list, menu, decorations and games",
    "Sort these numbers: 3, 1, 2",
    "Find the odd one out: apple, carrot, pear",
    "Research and compare three laptops",
    "Name the planets, their moons and their distances",
    "俳句を書いて、素数を三つ挙げてください",
    "Write an email to invite the team and list three restaurants",
    "Tell me about love, life and the rest; or not",
]


@pytest.mark.parametrize("goal", UNCLEAR[:-1])
def test_goal_with_unclear_parts_stays_whole(goal: str) -> None:
    found = parts_of(goal)
    assert [part.text for part in found.parts] == [goal]
    assert not found.simple


def test_material_is_not_divided() -> None:
    goal = "Summarise the following text and list its main points.\n\nWrite less. Then stop.\n\nBuy more."
    assert [
        text.startswith(("Summarise the following text. Write less", "List its main")) for text, _ in parts(goal)
    ] == [
        True,
        True,
    ]
    code = "Explain this code and translate it to Go: `if a: write(b); then(c)`"
    assert [after for _, after in parts(code)] == [(), (0,)]
    long = "Write a poem, then translate it. " + "It was a dark night. " * 200
    assert len(parts(long)) == 1


def test_too_long_list_stays_whole() -> None:
    goal = "\n".join(f"{number}. Write poem number {number}" for number in range(1, MOST_PARTS + 2))
    assert len(parts(goal)) == 1
    assert len(parts(goal.rpartition("\n")[0])) == MOST_PARTS


@pytest.mark.parametrize("goal", ["", "   ", "-", "- one thing", "1.", "?", "and", "then", ",,,", "a" * 5000, "\n\n"])
def test_odd_goals_stay_whole(goal: str) -> None:
    assert parts(goal) == [(goal.strip(), ())]


@pytest.mark.parametrize(
    "goal",
    [
        "Describe Redis in two sentences, describe SQLite in one sentence, then recommend one of them for a web shop",
        "Write a haiku about rain, write a tweet about it and explain recursion in two sentences",
        "1. Explain DNS 2. Write a limerick about a cat 3. Translate both into French",
        "Write release notes for version 2.0 (new: dark mode) and write a tweet about dark mode",
        "Schreibe ein Gedicht über Regen, erkläre DNS, dann fasse beides zusammen",
    ],
)
def test_parts_are_certain_if_each_is_a_request_of_its_own(goal: str) -> None:
    assert parts_of(goal).certain


@pytest.mark.parametrize(
    "goal",
    [
        "Compare tea and coffee, then recommend one",
        "Write a poem about the sea and a song about rain",
        "Create a REST API with users, posts and comments, and write tests",
        "Explain DNS, explain DHCP in two sentences each",
        "Name three caches, name three databases: which fit a small web shop?",
        "Write a story about a dog on a farm, and explain in one sentence what the farm costs",
        "1. tea 2. coffee 3. juice",
        "Explain how tides work",
    ],
)
def test_parts_are_uncertain_if_one_refers_to_another_or_may_be_several(goal: str) -> None:
    assert not parts_of(goal).certain
