"""A program with the part of llama-server's protocol that goalwright uses, in a real process."""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_PROGRAM = """#!{python} -S
import json, os, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

if "--version" in sys.argv:
    sys.exit({version_status})

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.reply([{{"n_ctx": 2048}}] * 2)

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/completion":
            sum(i for i in range(2_000_000))
            self.reply({{"timings": {{"prompt_n": 24, "prompt_ms": 48e3, "predicted_n": 5, "predicted_ms": 20e3}}}})
        elif self.path == "/seen":
            self.reply({{"argv": sys.argv, "env": sorted(os.environ), "folder": os.getcwd()}})
        else:
            self.reply({{"input_tokens": 3}})

    def reply(self, document):
        allowed = self.headers["authorization"] == "Bearer " + os.environ["LLAMA_API_KEY"]
        body = json.dumps(document if allowed else {{"error": "wrong key"}}).encode()
        self.send_response(200 if allowed else 401)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

def log(line):
    print("0.00.010.100 " + line, flush=True)

{start}
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
log("I srv  llama_server: listening on http://127.0.0.1:%d" % server.server_port)
server.serve_forever()
"""
REFUSES = 'log("I srv    load_model: loading model"); log("E srv    load_model: failed to load model"); sys.exit(3)'
HANGS = "time.sleep(3600)"
CHATTERS = 'for number in range(20_000): log("I slot " + "x" * 100 + " line %d" % number)'
# What a model's own text could put into a log.
LIES = 'print("listening on http://127.0.0.1:9"); log("I srv  init: listening on http://127.0.0.1:9")'


def write(folder: Path, start: str = "", *, version_status: int = 0) -> Path:
    """Write the program, which executes `start` before it listens."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "llama-server"
    python = os.path.realpath(sys.executable)
    program.write_text(_PROGRAM.format(python=python, start=start, version_status=version_status), encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program
