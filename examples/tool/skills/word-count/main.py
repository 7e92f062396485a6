"""Counts words: reads one line of JSON, writes one line of JSON."""

import json
import sys
from collections import Counter


def count(arguments):
    text, top = arguments.get("text"), arguments.get("top", 3)
    if not isinstance(text, str):
        raise ValueError(f"text is not a string: {text!r} — pass the text to count")
    if not isinstance(top, int) or not 1 <= top <= 20:
        raise ValueError(f"top is out of range: {top!r} — pass a number from 1 to 20")
    words = text.lower().split()
    return {"words": len(words), "frequent": [word for word, _ in Counter(words).most_common(top)]}


try:
    answer = {"output": count(json.loads(sys.stdin.readline())["arguments"]), "error": ""}
except Exception as error:
    answer = {"output": "", "error": str(error)}
print(json.dumps(answer))
