"""The progress of a batch."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from goalwright.batch.goals import BatchGoal
from goalwright.batch.limits.limited_model import CallLimits
from goalwright.batch.limits.rate_limiter import Rates
from goalwright.batch.summary import BatchSummary
from goalwright.interfaces.cli.view.batch_progress import BatchProgress, duration, render
from goalwright_executor.history.result import Result
from goalwright_planner.events import CallFinished, CallRetried, ModelLoaded, ModelLoading
from goalwright_planner.model import Reply, Usage


class Clock:
    """A clock that tests advance."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def goal(name: str) -> BatchGoal:
    return BatchGoal(id=name, line=1, text="Say hello")


def result(status: str) -> Result:
    return Result("", status, "Say hello", "hi", None, None, (), (), Usage(1, 10, 5), 0.001, "")  # type: ignore[arg-type]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def limits() -> CallLimits:
    return CallLimits(Rates(32))


@pytest.fixture
def view(clock: Clock, limits: CallLimits) -> BatchProgress:
    """Two of ten goals ended in 20 seconds, one of them failed; two are running."""
    view = BatchProgress(BatchSummary(10), lambda: limits.pace(clock()), clock)
    for name, status in (("a", "done"), ("b", "failed")):
        began = view.began(goal(name))
        view.note(CallFinished("task", "t", "m", Reply("x", usage=Usage(1, 100, 20), cost=0.25), 1.0))
        clock.now += 10
        view.summary.add(result(status))
        view.ended(goal(name), began)
    view.began(goal("slow"))
    view.began(goal("quick"))
    view.note(CallRetried("task", "t", "m", 1, 2.0, "busy"))
    return view


def test_line_shows_progress_rate_time_left_and_cost(view: BatchProgress) -> None:
    assert view.line() == (
        "2/10 goals · 6.0/min · about 1 min 20 s left · 2 goals running (0 calls) · $0.5000 · 240 tokens · "
        "1 retry · 1 failed · slowest: slow 0 s, quick 0 s"
    )


def test_no_estimate_before_the_first_goal_ends(clock: Clock) -> None:
    view = BatchProgress(BatchSummary(1), CallLimits(Rates(32)).pace, clock)
    clock.now += 5
    assert view.line() == "0/1 goal · starting · $0.0000 · 0 tokens"
    view.began(goal("a"))
    assert view.line() == "0/1 goal · 1 goal running (0 calls) · $0.0000 · 0 tokens · slowest: a 0 s"


def test_unknown_price_is_shown_as_unknown(view: BatchProgress) -> None:
    view.note(CallFinished("task", "t", "m", Reply("x", usage=Usage(1, 1, 1), cost=None), 1.0))
    assert "cost unknown" in view.line()


def test_pauses_of_a_provider_are_shown(view: BatchProgress, clock: Clock, limits: CallLimits) -> None:
    limits.limiter("openai/x").limit = 4.0
    limits.limiter("openai/x").opens_at = clock.now + 65
    said = view.line()
    assert "(0 calls, at most 4 now)" in said
    assert "openai/x asked for a pause: continues in 1 min 5 s" in said


@pytest.mark.parametrize("width", [40, 100])
def test_live_view_has_a_bar_and_fits_the_terminal(view: BatchProgress, width: int) -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=width, color_system=None)
    console.print(render(view, console))
    lines = stream.getvalue().splitlines()
    assert "━" in lines[0]
    assert "2/10 goals  20%" in lines[0]
    assert max(map(len, lines)) <= width


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.4, "0 s"), (59.4, "59 s"), (59.6, "1 min 0 s"), (125, "2 min 5 s"), (12_000, "3 h 20 min")]
)
def test_durations_are_formatted(seconds: float, said: str) -> None:
    assert duration(seconds) == said


def test_models_that_load_are_shown(view: BatchProgress) -> None:
    view.note(ModelLoading("openai/x", "litellm"))
    assert "loading litellm" in view.line()
    view.note(ModelLoaded("openai/x", "litellm", 3.0))
    assert "loading" not in view.line()
