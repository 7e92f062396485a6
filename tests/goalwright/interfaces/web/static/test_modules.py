"""The page's modules without a browser: pure ones under Node, vendored ones by their hashes, and their size."""

from __future__ import annotations

import json
import subprocess
import sys
import zlib
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from goalwright.interfaces.web import shapes
from goalwright.traces.timeline import TYPES
from goalwright_executor.journal import trace_file
from tests.goalwright.recorded import rows as recorded
from tests.goalwright.runs.adaptive import Adaptive, Answers, llm, planned
from tests.goalwright.traces import test_timeline
from tests.needs import needs_es_modules
from tests.record_version import packed
from tests.test_recorded_versions import VERSIONS

if TYPE_CHECKING:
    from goalwright_executor.stores.row import Row

HERE = Path(__file__).parent
ROOT = HERE.parents[4]
STATIC = ROOT / "goalwright" / "interfaces" / "web" / "static"


@needs_es_modules
def test_the_tests_of_pure_modules_pass() -> None:
    command = ["node", "--test", *map(str, sorted((HERE / "js").glob("*.test.mjs")))]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert ran.returncode == 0, ran.stdout[-4000:]


def recorded_runs(version: str) -> list[list[Row]]:
    """The runs that a version exported."""
    text = packed(ROOT / "tests" / "data" / version, "traces.jsonl").decode()
    runs: dict[str, list[Row]] = defaultdict(list)
    for line in text.splitlines():
        row = trace_file.parse(line, "trace")
        runs[row.run_id].append(row)
    return list(runs.values())


@needs_es_modules
@pytest.mark.parametrize("version", VERSIONS)
def test_the_page_folds_every_recorded_run_like_the_server(version: str, tmp_path: Path) -> None:
    check_fold(recorded_runs(version), tmp_path)


@needs_es_modules
async def test_the_page_folds_rounds_like_the_server(workspace: Path, tmp_path: Path) -> None:
    repeat = {"until": '<<draft.output>> contains "good"', "most": 5}
    each = llm("each", "draft", instruction="Take <<item>>", for_each=["a", "b"])
    each["repeat"] = {"until": '<<each.output>> contains "good"', "most": 2}
    answers: Answers = {"draft#4": "good", "each[1]": "good"}
    result = await Adaptive(workspace).run(planned(llm("draft", repeat=repeat), each, llm("end", "each")), answers)
    assert result.status == "partial"
    check_fold([recorded(workspace)], tmp_path)


@needs_es_modules
def test_the_page_folds_a_run_of_a_dead_process_like_the_server(tmp_path: Path) -> None:
    late = test_timeline.event("10:00:06", "task_started", task="b", inputs="y")
    again = ("18:00:00", *late[1:])
    begun, resumed = (*test_timeline.BEGUN[:5], late), test_timeline.RESUMED
    died = [(*begun, *resumed), (*begun, resumed[0], again, *resumed), (*begun, resumed[0], again)]
    check_fold([list(test_timeline.rows(*events)) for events in died], tmp_path)


def check_fold(runs: list[list[Row]], tmp_path: Path) -> None:
    """Fold runs in Node, and compare the result with the server's."""
    lines = []
    for rows in runs:
        known = [row for row in rows if row.type in TYPES]
        document = json.loads(json.dumps(shapes.run(known, alive=False, held_by=None)))
        lines.append(json.dumps({"rows": [shapes.short_row(row) for row in rows], "document": document}))
    (tmp_path / "runs.jsonl").write_text("\n".join(lines), encoding="utf-8")
    command = ["node", str(HERE / "js" / "same_fold.mjs"), str(tmp_path / "runs.jsonl")]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (ran.returncode, ran.stdout.strip()) == (0, str(len(lines))), ran.stderr[-4000:]


def test_vendored_modules_match_their_pinned_hashes() -> None:
    ran = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "vendor"), "--check"], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr


def test_the_page_adds_little_to_a_wheel_and_names_no_other_site() -> None:
    files = [path for path in STATIC.rglob("*") if path.is_file()]
    assert sum(len(zlib.compress(path.read_bytes())) for path in files) <= 250_000
    for path in files:
        if "vendor" not in path.parts and path.suffix in (".js", ".css", ".html"):
            text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
            assert "http://" not in text, path
            assert "innerHTML" not in text, path


def test_a_module_is_one_noun_and_fits_two_screens() -> None:
    for path in STATIC.rglob("*.js"):
        if "vendor" not in path.parts:
            assert len(path.read_text(encoding="utf-8").splitlines()) <= 220, path
