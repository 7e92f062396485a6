"""Reading the text of a file."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

import pytest

from goalwright_executor.files import text

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("Grüße\r\nzwei\n\n".encode(), "Grüße\nzwei"),
        (b"\xef\xbb\xbfwith a mark", "with a mark"),
        ("wide".encode("utf-16"), "wide"),
        ("café".encode("cp1252"), "café"),
        (b"", ""),
        (b"no extension \xff at all", "no extension ÿ at all"),
    ],
)
def test_text_is_read_in_common_encodings(tmp_path: Path, data: bytes, expected: str) -> None:
    path = tmp_path / "notes"
    path.write_bytes(data)
    assert text.read(path) == text.FileText(expected, hashlib.sha256(data).hexdigest())
    assert text.digest(path) == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0", "not a text file"),
        (b"%PDF-1.7 looks like text", "a PDF"),
        (b"PK\x03\x04word", "an office document"),
    ],
)
def test_binary_file_is_refused_with_reason(tmp_path: Path, data: bytes, why: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(text.FileRefused, match=why) as caught:
        text.read(path)
    assert "model that calls tools" in str(caught.value)


def test_missing_large_or_special_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(text.FileRefused, match="no longer exists"):
        text.read(tmp_path / "gone")
    assert text.digest(tmp_path / "gone") is None
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(text.SIZE_LIMIT + 1)
    with pytest.raises(text.FileRefused, match="20,971,521 bytes"):
        text.read(large)
    with pytest.raises(text.FileRefused, match="cannot be read"):
        text.read(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(text.FileRefused, match="regular"):
        text.read(tmp_path / "pipe")
    assert text.digest(tmp_path / "pipe") is None
