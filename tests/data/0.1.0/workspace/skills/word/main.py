import json, sys
request = json.loads(sys.stdin.readline())
text = request["arguments"]["text"]
print("counting", file=sys.stderr)
print(json.dumps({"output": {"words": len(text.split()) * request["arguments"]["times"]}, "error": ""}))
