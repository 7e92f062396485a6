"""Decoding events in several threads."""

from __future__ import annotations

import subprocess
import sys

# In a child process, because a failure crashes the interpreter.
READ_TOGETHER = """
import sys, threading, types
from goalwright_planner.events import event

sys.setswitchinterval(1e-6)
source = '''from __future__ import annotations
from typing import Any
import msgspec
from goalwright_planner.events.event import Event, Hash
'''
for n in range(250):
    source += f'''
class Part{n}(msgspec.Struct):
    name: str = ""
    hash: Hash | None = None
class Made{n}(Event, frozen=True, gc=False):
    task: str
    parts: list[Part{n}] = []
    more: dict[str, Any] = {{}}
    first: Part{n} | None = None
'''
made = sys.modules["made"] = types.ModuleType("made")
exec(source, made.__dict__)
together = threading.Barrier(6)
read = []

def read_all():
    for n in range(250):
        together.wait()
        one = event.decode(f"made{n}", {"task": "a", "parts": [{"name": "b"}], "first": {"name": "c"}})
        read.append(one.first.name)

threads = [threading.Thread(target=read_all) for _ in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(read == ["c"] * 1500)
"""


def test_threads_can_decode_a_new_event_class_concurrently() -> None:
    ran = subprocess.run([sys.executable, "-c", READ_TOGETHER], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "True\n"), ran.stderr
