"""Attacks on the proxy of a box whose command may reach some hosts: it must not reach any other host."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from goalwright_skills.builtin.code.run_code import ShellRun
from goalwright_skills.builtin.tool_context import ShellRules
from tests.walls.registry import probe

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from goalwright_skills.builtin.code.boxed_run import BoxedRun
    from goalwright_skills.tools.envelope import Envelope
    from tests.skills.workbench import Workbench

SECRET = "a secret of this machine"
ANSWER = f"HTTP/1.1 200 OK\r\n\r\n{SECRET}"
# Sends a request to the proxy for each line of its input, a method and an address; connects directly without a proxy.
ASK = """
import os, socket, sys
from urllib.parse import urlsplit
at = urlsplit(os.environ.get("http_proxy", ""))
def heard(address, data):
    with socket.create_connection(address, 3) as connection:
        connection.settimeout(3)
        connection.sendall(data)
        text = b""
        while part := connection.recv(65536):
            text += part
        return text
for line in sys.stdin.read().splitlines():
    how, address = line.split(" ", 1)
    get = "HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n"
    data = {
        "connect": f"CONNECT {address} {get}GET / {get}",
        "get": f"GET http://{address}/ {get}",
        "raw": address.encode().decode("unicode_escape"),
        "direct": f"GET / {get}",
    }[how]
    host, _, port = address.rpartition(":")
    try:
        to = (at.hostname, at.port) if how != "direct" and at.hostname else (host.strip("[]"), int(port))
        text = heard(to, data.encode())
        print(how, address[:60], text[:20], b"secret" in text)
    except Exception as error:
        print(how, address[:60], type(error).__name__, error)
"""
# Spellings of loopback addresses, private networks, and the metadata services of clouds.
LOOPBACK = (
    "127.0.0.1", "127.1", "0.0.0.0", "2130706433", "0x7f000001", "0177.0.0.1", "localhost", "LOCALHOST.",  # noqa: S104
    "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]",
    "[fe80::1%25lo]",
)  # fmt: skip
PRIVATE = ("10.0.0.1", "172.16.0.1", "192.168.0.1", "100.64.0.1", "[fc00::1]")
METADATA = (
    "169.254.169.254",
    "[::ffff:a9fe:a9fe]",
    "[fd00:ec2::254]",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
)


@dataclass
class Service:
    """A service on this machine that no box may reach: its port, the number of connections, and its answer."""

    port: int = 0
    reached: int = 0
    answer: str = ANSWER

    async def serve(self, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reached += 1
        with contextlib.suppress(OSError):
            writer.write(self.answer.encode())
            await writer.drain()
        writer.close()


@contextlib.asynccontextmanager
async def serving(answer: str = ANSWER) -> AsyncIterator[Service]:
    service = Service(answer=answer)
    server = await asyncio.start_server(service.serve, "127.0.0.1", 0)
    service.port = server.sockets[0].getsockname()[1]
    async with server:
        yield service


@dataclass
class Resolver:
    """Cycles through lists of addresses, as a hostile name server does."""

    answers: tuple[tuple[str, ...], ...]
    queries: list[str] = field(default_factory=list)

    async def find(self, host: str, _port: int) -> list[str]:
        self.queries.append(host)
        return [*self.answers[(len(self.queries) - 1) % len(self.answers)]]


class Shell(ShellRun):
    """`shell_run` with a name server of the attacker."""

    def __init__(self, bench: Workbench, hosts: tuple[str, ...], resolver: Resolver | None = None) -> None:
        super().__init__(bench.host, ShellRules(hosts=hosts))
        self._resolver = resolver

    def boxed(self, run: BoxedRun) -> BoxedRun:
        run = super().boxed(run)
        return run if self._resolver is None else replace(run, find=self._resolver.find)


async def request(shell: ShellRun, *lines: str) -> Envelope:
    """Run a command in the box that requests each line."""
    command = f"cat > ask.py <<'ASK'\n{ASK}\nASK\n{sys.executable} -I ask.py <<'LINES'\n" + "\n".join(lines) + "\nLINES"
    return await shell.call({"command": command, "timeout": 300})


def fetching(service: Service) -> str:
    """Return a command that fetches a page through the proxy of the environment and follows redirects."""
    return (
        f"{sys.executable} -I - <<'FETCH'\nimport urllib.request\n"
        f"try: print(urllib.request.urlopen('http://127.0.0.1:{service.port}/', timeout=9).read())\n"
        f"except Exception as error: print(error)\nFETCH"
    )


def leak(envelope: Envelope, lines: int, *services: Service) -> str:
    """Return the requests that reached a service or were forwarded."""
    if reached := sum(service.reached for service in services):
        return f"a service of this machine was reached {reached} times: {envelope.text}"
    rows = envelope.text.splitlines()
    if envelope.status != "success" or len(rows) < lines:
        return f"the attack did not run: {envelope.text}"
    forwarded = [row for row in rows if row.endswith("True") or "HTTP/1.1 200" in row]
    return f"forwarded: {forwarded}" if forwarded else ""


@probe("a host that is not allowed cannot be reached by its name or address")
async def not_allowed(bench: Workbench) -> str:
    async with serving() as service:
        names = (f"localhost:{service.port}", f"127.0.0.1:{service.port}", f"evil.example:{service.port}")
        lines = [f"{how} {name}" for name in names for how in ("connect", "get", "direct")]
        return leak(await request(Shell(bench, ("example.org",)), *lines), len(lines), service)


@probe("private addresses are refused in every spelling, even if all public hosts are allowed", slow=True)
async def private_forms(bench: Workbench) -> str:
    async with serving() as service:
        ports = (("*", f"*:{service.port}"), service.port)
        addresses = [f"{host}:{ports[1]}" for host in LOOPBACK] + [f"{host}:80" for host in (*PRIVATE, *METADATA)]
        lines = [f"{how} {address}" for address in addresses for how in ("connect", "get")]
        envelope = await request(Shell(bench, ports[0]), *lines)
        return leak(envelope, len(lines), service) or _not_refused(envelope)


def _not_refused(envelope: Envelope) -> str:
    """Return the addresses to which a connection was attempted."""
    reached = envelope.data.get("network", {}).get("reached", [])
    return f"attempted: {reached}" if reached else ""


@probe("a name that resolves to a private address is refused, even if it did not do so before", slow=True)
async def rebinding(bench: Workbench) -> str:
    async with serving() as service:
        resolver = Resolver(
            (("127.0.0.1",), ("93.184.216.34", "127.0.0.1"), ("::1",), ("::ffff:127.0.0.1",), ("1.1.1.1",))
        )
        hosts = (f"rebind.example:{service.port}", f"*.rebind.example:{service.port}")
        lines = [f"{how} {name}rebind.example:{service.port}" for name in ("", "a.") for how in ("connect", "get")] * 3
        envelope = await request(Shell(bench, hosts, resolver), *lines)
        result = leak(envelope, len(lines), service)
        if not result and len(resolver.queries) > len(lines):
            return f"a name was resolved {len(resolver.queries)} times for {len(lines)} requests"
        return result


@probe("a redirect from an allowed host to another one is refused")
async def redirects(bench: Workbench) -> str:
    async with serving() as service, serving() as allowed:
        allowed.answer = (
            f"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:{service.port}/\r\nContent-Length: 0\r\n\r\n"
        )
        envelope = await Shell(bench, (f"127.0.0.1:{allowed.port}",)).call({"command": fetching(allowed)})
        if service.reached:
            return f"the other host was reached: {envelope.text}"
        refused = "403" in envelope.text or not bench.host().confinement.bridges
        return "" if refused else f"the attack did not run: {envelope.text}"


@probe("a host can be reached only on its allowed ports")
async def ports(bench: Workbench) -> str:
    resolver = Resolver((("127.0.0.1",),))
    async with serving() as service:
        lines = [f"{how} 127.0.0.1:{service.port}" for how in ("connect", "get")]
        lines += [f"{how} name.example:{port}" for port in (22, 25, 8080, service.port) for how in ("connect", "get")]
        hosts = ("127.0.0.1:1", "127.0.0.1", "name.example")
        envelope = await request(Shell(bench, hosts, resolver), *lines)
        result = leak(envelope, len(lines), service) or _not_refused(envelope)
        return result or (f"other ports were resolved: {resolver.queries}" if resolver.queries else "")


@probe("ambiguous requests reach no other host")
async def smuggled(bench: Workbench) -> str:
    async with serving() as service, serving("HTTP/1.1 200 OK\r\n\r\nallowed") as allowed:
        allowed_host, target = f"127.0.0.1:{allowed.port}", f"127.0.0.1:{service.port}"
        end = "\\r\\n\\r\\n"
        lines = [
            f"raw GET http://{allowed_host}/ HTTP/1.1\\r\\nHost: {target}{end}GET http://{target}/ HTTP/1.1{end}",
            f"raw GET http://{allowed_host}\\nHost: {target}\\n/ HTTP/1.1{end}",
            f"raw GET http://{allowed_host}/ HTTP/1.1\\r\\nX: 1\\n\\nCONNECT {target} HTTP/1.1{end}",
            f"raw GET http://{allowed_host}@{target}/ HTTP/1.1{end}",
            f"raw GET http://{target}#@{allowed_host}/ HTTP/1.1{end}",
            f"raw GET http://{allowed_host}\\\\@{target}/ HTTP/1.1{end}",
            f"raw CONNECT {allowed_host}@{target} HTTP/1.1{end}",
            f"raw CONNECT {target} HTTP/1.1\\r\\nHost: {allowed_host}{end}",
            f"raw GET //{target}/ HTTP/1.1\\r\\nHost: {allowed_host}{end}",
            f"raw GET / HTTP/1.1\\r\\nHost: {target}{end}",
        ]
        envelope = await request(Shell(bench, (allowed_host,)), *lines)
        if service.reached or "True" in envelope.text:
            return f"reached {service.reached} times: {envelope.text}"
        return "" if len(envelope.text.splitlines()) >= len(lines) else f"the attack did not run: {envelope.text}"


@probe("no other process or box on this machine can use the proxy of a box")
async def open_relay(bench: Workbench) -> str:
    async with serving("HTTP/1.1 200 OK\r\n\r\nallowed") as allowed:
        hosts = (f"127.0.0.1:{allowed.port}",)
        go, port_file = bench.artifacts / "go", bench.artifacts / "port"
        command = "echo ${http_proxy##*:} > draft; mv draft port; until [ -e go ]; do sleep 0.05; done"
        running = asyncio.create_task(Shell(bench, hosts).call({"command": command, "timeout": 300}))
        try:
            while not port_file.exists():
                if running.done():
                    return f"the attack did not run: {running.result().text}"
                await asyncio.sleep(0.05)
            port = port_file.read_text().strip()
            return await _use_proxy(bench, int(port), hosts) if port else ""  # without a proxy there is nothing to use
        finally:
            go.touch()
            await running


async def _use_proxy(bench: Workbench, port: int, hosts: tuple[str, ...]) -> str:
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(5):
            await asyncio.open_connection("127.0.0.1", port)
            return f"port {port} is open on this machine"
    inside = f"{sys.executable} -c 'import socket; print(socket.create_connection((\"127.0.0.1\", {port}), 3))'"
    other = await Shell(bench, hosts).call({"command": f"[ ${{http_proxy##*:}} = {port} ] || {inside}"})
    return f"another box reached it: {other.text}" if "<socket.socket" in other.text else ""


@probe("a finished command leaves no open connection behind", slow=True)
async def left_behind(bench: Workbench) -> str:
    async with serving("HTTP/1.1 200 OK\r\n\r\n") as allowed:
        before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
        shell = Shell(bench, (f"127.0.0.1:{allowed.port}",))
        await shell.call(
            {"command": f"cat > late.sh <<'LATE'\nsleep 2\n{fetching(allowed)}\nLATE\nsetsid bash late.sh &"}
        )
        await asyncio.sleep(4)
        if allowed.reached:
            return "a process that outlived its command reached a host"
        after = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
        return f"{after - before} files are left open" if after > before else ""
