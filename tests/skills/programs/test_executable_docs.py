"""The examples in docs/executable-skills.md work as shown, more than once, and pass the check."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from goalwright_skills.check import review
from tests.needs import need, needs_go, needs_node
from tests.skills.workbench import Workbench

PAGE = Path(__file__).parents[3] / "docs" / "executable-skills.md"
FILE = re.compile(r"^`(?P<path>skills/[^`]+)`\n\n```[a-z-]+\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
EXPECTED: dict[str, tuple[dict[str, Any], str]] = {
    "words": ({"text": "to be or not to be"}, "6 words"),
    "slugs": ({"title": "Hello, World"}, "hello-world"),
    "primes": ({"bound": 20}, "[2,3,5,7,11,13,17,19]"),
    "host": ({}, "Linux"),
}


def test_there_is_an_example_for_each_runtime() -> None:
    folders = {Path(match["path"]).parent.name for match in FILE.finditer(PAGE.read_text(encoding="utf-8"))}
    assert folders == set(EXPECTED)


@pytest.mark.parametrize(
    "name",
    [
        "words",
        pytest.param("slugs", marks=[needs_node, pytest.mark.slow]),
        pytest.param("primes", marks=needs_go),
        "host",
    ],
)
async def test_an_example_works_as_shown(tmp_path: Path, name: str, request: pytest.FixtureRequest) -> None:
    if name == "primes":
        request.getfixturevalue("warm_go")
    bench = Workbench(tmp_path)
    for match in FILE.finditer(PAGE.read_text(encoding="utf-8")):
        path = bench.workspace / match["path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(match["text"], encoding="utf-8")
        if not path.suffix:
            path.chmod(0o755)
    arguments, text = EXPECTED[name]
    folder = bench.folder(name)
    envelope = await bench.load(folder).call(arguments)
    if "cannot run TypeScript" in envelope.text:
        assert "install Node.js 22.18 or newer, or tsx" in envelope.text
        need("typescript")
    assert envelope.text == text
    built = list(bench.progress)
    assert (await bench.load(folder).call(arguments)).text == text
    assert bench.progress == built, "it is built once"
    (report,) = await review(folder, bench.host())
    assert report.problems == ()
