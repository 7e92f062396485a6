"""A SKILL.md is read as its author meant it, however it is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from goalwright_skills.format import frontmatter, plain_yaml, safe_yaml
from goalwright_skills.format.frontmatter import Parsed, compose, decode, parse

PATH = Path("/w/skills/demo/SKILL.md")


def read(text: str, *, strict: bool = False, folder: str = "demo") -> Parsed:
    return parse(text, PATH, folder=folder, strict=strict)


def rules(parsed: Parsed) -> list[str]:
    return [problem.rule for problem in parsed.problems]


def test_a_plain_file_has_its_fields_and_body_and_no_problem() -> None:
    parsed = read("---\nname: demo\ndescription: Shows.\nmodel: gpt-x\nlicense: MIT\n---\n# Body\n")
    assert (parsed.name, parsed.description, parsed.model) == ("demo", "Shows.", "gpt-x")
    assert parsed.extra == {"license": "MIT"}
    assert parsed.body == "# Body\n"
    assert not parsed.problems


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff---\nname: demo\ndescription: Use when: asked\n---\n",
        "---\r\nname: demo\r\ndescription: Use when: asked\r\n---\r\nBody\r\n",
        "\n\n  \n---\nname: demo\ndescription: 'Use when: asked'\n---\n",
        "---\nname: demo\ndescription: >-\n  Use when:\n  asked\n---\n",
        "---   \nname: demo\ndescription:\n  Use when: asked\n--- \n",
        "---\nname: demo\ndescription: Use when: asked\nargument-hint: [a] [b]\n---\n",
        "---\n  name: demo\n  description: Use when: asked\n---\n",
        "---\nname:demo\ndescription: Use when: asked\n---\n",
        "---\nName: demo\nDescription: Use when: asked\n---\n",
    ],
)
def test_mistakes_in_real_files_are_tolerated(text: str) -> None:
    parsed = read(text)
    assert parsed.broken is None
    assert (parsed.name, parsed.description) == ("demo", "Use when: asked")


def test_dashes_inside_a_value_do_not_end_the_frontmatter() -> None:
    parsed = read('---\nname: demo\ndescription: "a --- b"\nnote: |\n  one\n  ---\n  two\n---\nBody\n')
    assert parsed.description == "a --- b"
    assert parsed.extra["note"] == "one\n---\ntwo\n"
    assert parsed.body == "Body\n"


@pytest.mark.parametrize("text", ["用于撰写报告。", "レポートを書く", "보고서 작성", "Écrit des rapports", "📊 charts"])
def test_descriptions_may_be_in_any_language(text: str) -> None:
    assert read(f"---\nname: demo\ndescription: {text}\n---\n").description == text


@pytest.mark.parametrize("value", ["on", "no", "1.0", "2024-01-01", "null", "12:30:45", "0x1F"])
def test_a_description_is_always_read_as_text(value: str) -> None:
    assert read(f"---\nname: demo\ndescription: {value}\n---\n").description == value


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("# Title\n", 1, "no frontmatter"),
        ("", 1, "no frontmatter"),
        ("---\nname: demo\ndescription: x\n", 1, "not closed"),
        (f"---\nname: demo\ndescription: {'x' * 70_000}\n", 1, "not closed within 65536 characters"),
        ("---\nname: demo\n---\n", 2, "no description"),
        ("---\nname: demo\ndescription:\n---\n", 3, "no description"),
        ("---\nname: demo\ndescription: '  '\n---\n", 3, "no description"),
        (
            "\n---\nname: demo\ndescription: !!python/object/apply:os.system ['true']\n---\n",
            4,
            "asks for an object",
        ),
    ],
)
def test_a_broken_file_is_reported_with_line_fault_and_remedy(text: str, line: int, what: str) -> None:
    parsed = read(text)
    assert parsed.broken is not None
    assert parsed.broken.path == PATH
    assert parsed.broken.line == line
    assert what in parsed.broken.what
    assert parsed.broken.remedy


def test_aliases_that_multiply_and_deep_nesting_are_refused_at_once() -> None:
    bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 10)}]\n" for i in range(8)
    )
    deep = "a: " + "[" * 50_000 + "\n"
    for block in (bomb, deep):
        parsed = read(f"---\nname: demo\ndescription: x\n{block}---\n")
        assert parsed.broken is not None
        assert "refused" in parsed.broken.what


def test_frontmatter_beyond_its_bound_is_refused() -> None:
    parsed = read(f"---\nname: demo\ndescription: {'x' * frontmatter.FRONTMATTER_LIMIT}\n---\n")
    assert parsed.broken is not None
    assert "exceeds" in parsed.broken.what


@pytest.mark.parametrize(
    ("name", "loaded"),
    [
        ("My Skill", "my-skill"),
        ("Überraschung!", "berraschung"),
        ("写作", "demo"),
        ("a" * 70, "a" * 64),
        ("-x--y-", "x-y"),
        ("", "demo"),
    ],
)
def test_a_name_of_another_form_is_loaded_under_its_slug_with_a_warning(name: str, loaded: str) -> None:
    parsed = read(f"---\nname: {name}\ndescription: x\n---\n")
    assert parsed.name == loaded
    assert parsed.broken is None
    assert "name-form" in rules(parsed)


def test_a_name_that_differs_from_its_folder_causes_a_warning_unless_strict() -> None:
    text = "---\nname: other\ndescription: x\n---\n"
    assert read(text).name == "other"
    assert rules(read(text)) == ["name-folder"]
    assert read(text, folder="").problems == ()
    strict = read(text, strict=True)
    assert strict.broken is not None
    assert strict.broken.rule == "name-folder"


def test_strict_drops_a_name_of_another_form() -> None:
    assert read("---\nname: Demo\ndescription: x\n---\n", strict=True).broken is not None


@pytest.mark.parametrize(
    ("lines", "rule"),
    [
        ("allowed-tools: {a: b}", "allowed-tools"),
        ("allowed-tools: [1, 2]", "allowed-tools"),
        (f"compatibility: {'x' * 501}", "compatibility"),
        ("metadata: text", "metadata"),
        ("license: [a]", "license"),
        ("model: 7", "model"),
        ("arguments: 7", "arguments"),
        ("disable-model-invocation: yes, please", "disable-model-invocation"),
        ("user-invocable: [false]", "user-invocable"),
    ],
)
def test_known_fields_of_the_wrong_kind_are_reported_but_load(lines: str, rule: str) -> None:
    parsed = read(f"---\nname: demo\ndescription: x\n{lines}\n---\n")
    assert rules(parsed) == [rule]
    assert parsed.broken is None
    assert parsed.problems[0].line == 4


@pytest.mark.parametrize("value", ["true", "False", "'yes'", "no", "on", "0", "", "~"])
def test_invocation_keys_accept_all_yaml_booleans(value: str) -> None:
    assert not read(f"---\nname: demo\ndescription: x\nuser-invocable: {value}\n---\n").problems


def test_a_long_description_is_kept_whole_and_reported() -> None:
    parsed = read(f"---\nname: demo\ndescription: {'x' * 1_025}\n---\n")
    assert len(parsed.description) == 1_025
    assert rules(parsed) == ["description-length"]


def test_utf_16_and_invalid_bytes_are_decoded() -> None:
    text = "---\nname: demo\ndescription: ä\n---\n"
    assert read(decode(text.encode("utf-16"))).description == "ä"
    assert "\ufffd" in decode(b"\xff\x00abc")


SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-(10**9), 10**9), st.text(max_size=40))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(), inner, max_size=3)),
    max_leaves=8,
)
KEYS = st.from_regex(r"[a-z][a-z_-]{0,12}", fullmatch=True).filter(
    lambda key: key not in ("name", "description", "model")
)


@given(
    st.text(min_size=1, max_size=200).filter(str.strip),
    st.dictionaries(KEYS, VALUES, max_size=4),
    st.text(max_size=80),
)
@settings(deadline=None)
def test_composed_frontmatter_reads_back(description: str, extra: dict[str, Any], body: str) -> None:
    body = body.replace("\r", "")
    parsed = read(compose({"name": "demo", "description": description, **extra}, body))
    assert parsed.description == description.strip()
    assert parsed.extra == extra
    assert parsed.body == body


PIECES = st.sampled_from(
    [
        "---\n",
        "name: x\n",
        "description: a: b\n",
        "- ",
        "  ",
        "? ",
        "&a ",
        "*a ",
        "!!map ",
        "!x ",
        "[",
        "]",
        "{",
        "}",
        "'",
        '"',
        "|\n",
        ">-\n",
        "\t",
        "\r\n",
        "\ufeff",
        "%YAML 1.1\n",
        "...\n",
        ": ",
        "#",
        "<<: *a\n",
        "\x00",
        "\x85",
        "\u2028",
        "`",
        "@",
    ]
)


@given(st.lists(st.one_of(PIECES, st.text(max_size=5)), max_size=40).map("".join))
@settings(deadline=None, max_examples=60)
@example("---\n? - a\n: b\ndescription: x\n---\n")
@example("---\ndescription: *a\n---\n")
def test_no_text_crashes_the_parser(text: str) -> None:
    parsed = read("---\n" + text + "\n---\n")
    assert parsed.broken is not None or parsed.description


@given(st.binary(max_size=300))
@settings(deadline=None)
def test_no_bytes_crash_the_parser(data: bytes) -> None:
    assert isinstance(read(decode(data)), Parsed)


PLAIN = st.from_regex(
    r"[A-Za-z0-9\u4e00-\u4eff][A-Za-z0-9 ,.()'\"/#:{}\[\]&*!|>%@`=~+_\u4e00-\u4eff-]{0,30}", fullmatch=True
)
LINE = st.one_of(
    st.builds("{}: {}".format, KEYS, PLAIN),
    st.builds('{}: "{}"'.format, KEYS, PLAIN),
    st.builds("{}: '{}'".format, KEYS, PLAIN),
    st.builds("{}:\n  - {}\n  - {}".format, KEYS, PLAIN, PLAIN),
    st.builds("{}:\n- {}".format, KEYS, PLAIN),
    st.builds("{}:\n  {}: {}\n  {}: '{}'".format, KEYS, KEYS, PLAIN, KEYS, PLAIN),
    st.builds("{}: >-\n  {}\n  {}".format, KEYS, PLAIN, PLAIN),
    st.builds("{}: |\n    {}\n    {}".format, KEYS, PLAIN, PLAIN),
    st.builds("{}:".format, KEYS),
    st.builds("  {}".format, PLAIN),
    st.just(""),
)


@given(st.lists(LINE, min_size=1, max_size=6).map("\n".join))
@settings(deadline=None, max_examples=60)
@pytest.mark.slow
def test_the_quick_reader_agrees_with_the_yaml_parser(block: str) -> None:
    quick = plain_yaml.load(block + "\n")
    if quick is None:
        return
    assert quick == safe_yaml.load(block + "\n")
    for key, value in yaml.safe_load(block + "\n").items():
        if isinstance(value, str):
            assert quick.values[str(key)] == value


def test_the_quick_reader_accepts_common_files() -> None:
    block = "name: a\ndescription: Does x. Use it when y.\nmetadata:\n  version: 1.0.0\n  tags: b\ntools:\n  - Read\n"
    assert plain_yaml.load(block) is not None


def loaded(data: bytes) -> Parsed:
    return parse(decode(data), Path("/w/x/SKILL.md"), folder="x")


@pytest.mark.parametrize(
    "data",
    [
        "---\nname: x\ndescription: Für Büros – „alles“.\n---\n".encode("cp1252"),
        "---\nname: x\ndescription: Für Büros – „alles“.\n---\n".encode("utf-16-le"),
        "---\nname: x\ndescription: Für Büros – „alles“.\n---\n".encode("utf-16-be"),
        "\ufeff\u200b---\nname: x\ndescription: Für Büros – „alles“.\n---\n".encode(),
        "<!-- a\n---\nlicence -->\n\n---\nname: x\ndescription: Für Büros – „alles“.\n---\n".encode(),
        "---\nname: x\ndescription: Für Büros – „alles“.\n...\n# Body\n".encode(),
        "---\nname: x\ndescription: Für Büros – „alles“.\n ---\n# Body\n".encode(),
        "---\rname: x\rdescription: Für Büros – „alles“.\r---\r".encode(),
    ],
)
def test_harmless_variations_are_loaded_without_a_problem(data: bytes) -> None:
    parsed = loaded(data)
    assert (parsed.description, parsed.problems) == ("Für Büros – „alles“.", ())


@pytest.mark.parametrize(
    ("lines", "description", "line", "says"),
    [
        ('description: "Reads C:\\data\\x"', "Reads C:\\data\\x", 3, "write each backslash twice"),
        ('description: "Reads files', "Reads files", 3, "close the quotes"),
        ("description: 'It's a reader'", "It's a reader", 3, "use the other kind inside"),
        ("metadata:\n\tauthor: me\ndescription: Reads.", "Reads.", 4, "indent with spaces, not with tabs"),
        (" description: Reads.", "Reads.", 3, "double quotes"),
        ("description: One.\ndescription: Two.", "Two.", 3, "more than once"),
        ("description:\n- Reads files\n- Writes files", "Reads files; Writes files", 3, "not text"),
        ("description: [Reads files, Writes files]", "Reads files; Writes files", 3, "not text"),
        ("description: Reads.\n\n# Title\n\ntext: more\nand more", "Reads.", 4, "not closed before its body"),
        ("description: Rings \x07 bells\x00.", "Rings  bells.", 2, "control characters"),
    ],
)
def test_oddities_are_reported_with_line_and_remedy(lines: str, description: str, line: int, says: str) -> None:
    parsed = loaded(f"---\nname: x\n{lines}\n---\n".encode())
    assert parsed.broken is None
    assert parsed.description == description
    (problem,) = parsed.problems
    assert problem.line == line
    assert says in f"{problem.what}; {problem.remedy}"


def test_an_unclosed_block_is_cut_where_the_body_starts() -> None:
    parsed = loaded(b"---\nname: x\ndescription: Reads.\n\n# Title\n\ntext\n\n---\nmore\n")
    assert parsed.body == "\n# Title\n\ntext\n\n---\nmore\n"


def test_metadata_indented_with_tabs_is_still_metadata() -> None:
    parsed = loaded(b"---\nname: x\ndescription: Reads.\nmetadata:\n\tauthor: me\n\tby: you\n---\n")
    assert parsed.extra == {"metadata": {"author": "me", "by": "you"}}


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b'+++\nname = "x"\n+++\n', "TOML"),
        (b"---\nname: x\ndescription: >\n---\n", "no description"),
        (b"---\nname: x\ndescription: Reads.\n\n# Title\n", "not closed"),
        (b"----\nname: x\n----\n", "no frontmatter"),
        (bytes(range(256)) * 20, "no frontmatter"),
        (b"<!-- " * 20_000, "no frontmatter"),
        (b"<!-- x -->" * 20_000, "no frontmatter"),
    ],
)
def test_unreadable_frontmatter_is_broken_with_a_remedy(data: bytes, says: str) -> None:
    parsed = loaded(data)
    assert parsed.broken is not None
    assert says in parsed.broken.what
    assert parsed.broken.remedy
