"""Random plans for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from goalwright_planner.plan.plan import Plan
from goalwright_planner.plan.task import ActionType, Task

ACTIONS: list[ActionType] = ["skill", "tool", "llm"]
texts = st.text(max_size=20).filter(lambda text: "<<" not in text)


@st.composite
def plans(draw: st.DrawFn, most: int = 12) -> Plan:
    """Draw a valid plan: each task depends on some earlier tasks, and the order is shuffled."""
    count = draw(st.integers(1, most))
    tasks = []
    for number in range(count):
        before = draw(st.lists(st.integers(0, number - 1), unique=True, max_size=4)) if number else []
        action: ActionType = draw(st.sampled_from(ACTIONS))
        arguments = draw(st.dictionaries(texts, texts)) if action == "tool" else draw(texts)
        tasks.append(
            Task(
                id=f"t{number}",
                action_type=action,
                title=draw(texts),
                name="a_name" if action != "llm" else None,
                instruction=draw(texts),
                arguments=arguments,
                depends_on=tuple(f"t{index}" for index in before),
            )
        )
    synthesis = draw(st.none() | st.just("put together"))
    return Plan(tuple(draw(st.permutations(tasks))), synthesis=synthesis)
