"""A program with tools of its own: run it with `python own_tools.py` (set a model first)."""

from goalwright import run_goal_sync

ORDERS = {"Ada": [{"number": 7, "item": "a slide rule", "total": 42}]}


def orders_find(customer: str) -> list[dict[str, object]]:
    """Find a customer's orders.

    Args:
        customer: The customer's name.
    """
    return ORDERS.get(customer, [])


def main() -> None:
    result = run_goal_sync("Write a short note to Ada about her last order", tools=[orders_find])
    print(result.answer)
    for task in result.tasks:
        print(f"- {task.id}: {task.status} after {task.seconds:.1f} s")


if __name__ == "__main__":
    main()
