"""A requirements.txt may only name packages of the index."""

from __future__ import annotations

from pathlib import Path

import pytest

from goalwright_skills.programs.build_cache import BuildError
from goalwright_skills.programs.builds.python_build import parse_requirements, read_requirements

FILE = Path("requirements.txt")


def test_requirements_are_normalised() -> None:
    text = "# packages\nOpen_PyXL >= 3.1 , <4   # sheets\n\r\nhttpx[HTTP2, cli]==0.28.*\nsix\n"
    assert parse_requirements(text, FILE) == ("httpx[cli,http2]==0.28.*", "open-pyxl<4,>=3.1", "six")
    assert parse_requirements("torch===2.1.0+cu118", FILE) == ("torch===2.1.0+cu118",)


def test_order_comments_and_spelling_do_not_matter() -> None:
    assert parse_requirements("b\na>=1", FILE) == parse_requirements("A >=1 # why\n\nB\n", FILE)


@pytest.mark.parametrize("marker", ["python_version < '3.12'", 'sys_platform == "linux" and (os_name != "nt")'])
def test_environment_markers_are_kept(marker: str) -> None:
    assert parse_requirements(f"six;{marker}", FILE) == (f"six ; {marker}",)


@pytest.mark.parametrize(
    "line",
    [
        "-e .",
        "-r more.txt",
        "-rmore.txt",
        "--requirement=more.txt",
        "-c limits.txt",
        "--index-url http://x",
        "-i http://x",
        "--find-links .",
        "--no-binary :all:",
        "--config-settings x=y",
        "six --no-binary six",
        "six --hash=sha256:aa",
        "six --global-option=x",
        "./local",
        "../local",
        "/tmp/local",
        "~/local",
        ".",
        "local/",
        "C:\\local",
        "evil.whl",
        "evil-1.0.tar.gz",
        "evil.zip",
        "evil==1.0+x.zip",
        "evil>=1.0+a.tar",
        "file:///tmp/evil",
        "https://example.org/x.whl",
        "git+https://example.org/x",
        "git+ssh://git@example.org/x",
        "hg+file:///x",
        "svn://x",
        "x @ https://example.org/x.whl",
        "x@file:///tmp/x",
        "x@./x",
        "x [a] @ file:///x",
        "evil[x@file:///y]",
        "six \\",
        "six ; \\",
        "${HOME}/x",
        "$X",
        "`x`",
        "six six",
        "six, seven",
        "six (>=1)",
        "six==",
        "six==../x",
        "six==1/..",
        "six;",
        "six; x",
        "six; os_name == '/etc'",
        "six; python_version < '3' @ file:///x",
        "six; os_name in -r",
        "six\x0b-r more.txt",
        "six\u2028-r more.txt",
        "six\x0c--index-url=x",
        "\uff53ix",
        "six\u202e",
        "six>=\u0661",
    ],
)
def test_other_lines_are_refused_with_line_and_remedy(line: str) -> None:
    with pytest.raises(BuildError) as caught:
        parse_requirements(f"six\n{line}\n", FILE)
    assert caught.value.message.startswith("requirements.txt:2: ")
    assert "such as" in caught.value.hint


def test_a_continued_line_hides_nothing() -> None:
    with pytest.raises(BuildError, match="continues on the next line"):
        parse_requirements("six \\\n--index-url http://x", FILE)


def test_a_comment_hides_no_second_line() -> None:
    with pytest.raises(BuildError, match=r"requirements\.txt:2"):
        parse_requirements("six # comment \\\n./evil\n", FILE)
    with pytest.raises(BuildError, match=r"requirements\.txt:2"):
        parse_requirements("six # comment\r./evil\n", FILE)


def test_missing_file_is_empty_and_invalid_file_is_an_error(tmp_path: Path) -> None:
    assert read_requirements(tmp_path / "requirements.txt") == ()
    (tmp_path / "requirements.txt").write_bytes(b"six\xff")
    with pytest.raises(BuildError, match="not UTF-8"):
        read_requirements(tmp_path / "requirements.txt")
