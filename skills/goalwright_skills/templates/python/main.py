"""__TOOL__: reads one line of JSON, prints one line of JSON."""

import json
import sys

LIMIT = 100_000


def run(arguments: dict) -> dict:
    """The output, or a ValueError that says the problem, the value and the next step."""
    text = arguments.get("text")
    if not isinstance(text, str):
        raise ValueError(f"text is missing or not a string: {text!r} — give the text to count")
    if len(text) > LIMIT:
        raise ValueError(f"text is too long: {len(text)} characters — split it, the limit is {LIMIT}")
    return {"words": len(text.split()), "characters": len(text)}


def main() -> None:
    """Answer every request, also one that cannot be served."""
    try:
        request = json.loads(sys.stdin.readline())
        answer = {"output": run(request.get("arguments", {})), "error": ""}
    except ValueError as error:
        answer = {"output": "", "error": str(error)}
    except Exception as error:
        answer = {
            "output": "",
            "error": f"unexpected failure: {type(error).__name__} — report it to the author",
        }
    print(json.dumps(answer, ensure_ascii=False))


if __name__ == "__main__":
    main()
