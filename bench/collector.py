"""The collector beside a bare endpoint: the same server, connections and bodies, in one run.

The bare endpoint reads a body and answers 201. The collector checks, counts and remembers every report, and answers
when it is on the disk (SQLite, WAL, full sync). Each runs in a process of its own, the load generator in another; they
take turns, and the answer is the median of the ratios of their rates. With --caddy, Caddy stands before each of them
with deploy/Caddyfile, and the connections are those of https.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import ssl
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "collector"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "deploy"))
from caddy import CADDY, Caddy
from serving import report_bytes

CONNECTIONS = 64
PROMISED = 0.7

SURVEY = """
title = "Alcohol at school"
epsilon = 1.0
shown_from = 10
[[question]]
name = "drinks"
text = "Have you drunk alcohol this week?"
kind = "yes-no"
[[question]]
name = "class"
text = "Which class are you in?"
kind = "choice"
labels = ["A", "B", "C"]
clear = true
"""


def bare(port: Any, folder: str, proxied: bool) -> None:
    """An endpoint of Starlette that reads a body and answers."""
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

    async def endpoint(request: Request) -> Response:
        await request.body()
        return JSONResponse({"status": 201, "title": "This report was counted."}, 201)

    app = Starlette(routes=[Route("/s/{name}/report", endpoint, methods=["POST"])])
    config = uvicorn.Config(app, access_log=False, log_level="error", http="h11", ws="none", backlog=4096)
    _serve(uvicorn.Server(config), port)


def collector(port: Any, folder: str, proxied: bool) -> None:
    """The collector as `bruit survey open` runs it, perhaps with --proxy, without limits."""
    from bruit.collector import Opened, open_store
    from bruit.collector.open_survey import document, link_hash
    from bruit.collector.server import Limits
    from bruit.collector.serving import Listening, server
    from bruit.survey import Survey

    path = Path(folder) / "survey.toml"
    path.write_text(SURVEY)
    survey = Survey.load(path)
    store = open_store(Path(folder) / "surveys.sqlite")
    store.add(Opened("bench", survey.digest, document(path), links=False, public=False, token=link_hash("bench")))
    store.disconnect()
    listening = Listening(proxy="127.0.0.1" if proxied else None)
    _serve(server(store, listening, Limits(per_second=1e6, per_address=10**9)), port)


def _serve(server: Any, port: Any) -> None:
    import socket

    listener = socket.socket(proto=socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    port.value = listener.getsockname()[1]
    server.run(sockets=[listener])


async def load(port: int, requests: list[bytes], trust: ssl.SSLContext | None = None) -> float:
    """Requests per second over many connections, each of which waits for its answer before it sends the next."""
    waiting = iter(requests)
    secure = {"ssl": trust, "server_hostname": "localhost"} if trust else {}

    async def connection() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, **secure)
        for request in waiting:
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            if not head.startswith(b"HTTP/1.1 201"):
                raise SystemExit(f"unexpected answer: {head[:60]!r}")
            length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
            await reader.readexactly(length)
        writer.close()

    begun = time.perf_counter()
    await asyncio.gather(*(connection() for _ in range(CONNECTIONS)))
    return len(requests) / (time.perf_counter() - begun)


def bodies(number: int) -> list[bytes]:
    """Reports of people who do not exist."""
    from bruit.survey import Survey

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "survey.toml"
        path.write_text(SURVEY)
        survey = Survey.load(path)
    return [survey.answer({"drinks": "Yes", "class": "ABC"[i % 3]}) for i in range(number)]


def main() -> int:
    """Measure; 0 when the promise is kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=6_000, help="per repetition")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--caddy", action="store_true", help="both behind Caddy, over https")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.caddy and CADDY is None:
        parser.error("Caddy is not on PATH (on Debian: caddy)")
    rates: dict[str, list[float]] = {"bare": [], "collector": []}
    work: dict[str, list[float]] = {"bare": [], "collector": []}
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        running = {target.__name__: _start(target, folder, options.caddy) for target in (bare, collector)}
        doors = {
            name: Caddy(Path(folder) / f"caddy-{name}", port.value)
            for name, (_, port) in running.items()
            if options.caddy
        }
        try:
            for _ in range(options.repetitions + 1):
                requests = [_request(body) for body in bodies(options.requests)]
                for name, (process, port) in running.items():
                    before = _processor(process.pid)
                    rates[name].append(asyncio.run(_load(port.value, requests, doors.get(name))))
                    work[name].append((_processor(process.pid) - before) / len(requests))
        finally:
            for door in doors.values():
                door.close()
            for process, _ in running.values():
                process.terminate()
                process.join()
    kept = {name: values[1:] for name, values in rates.items()}  # the first compiles and fills caches
    best = {name: max(values) for name, values in kept.items()}
    ratio = statistics.median(mine / theirs for mine, theirs in zip(kept["collector"], kept["bare"], strict=True))
    seconds = {name: statistics.median(values[1:]) for name, values in work.items()}
    result = {
        "processor": seconds,
        "connections": CONNECTIONS,
        "rates": kept,
        "best": best,
        "ratio": ratio,
        "promised": PROMISED,
    }
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        print(
            f"bare endpoint {best['bare']:,.0f}/s, collector {best['collector']:,.0f}/s over {CONNECTIONS} connections"
        )
        bare_work, own_work = (1e6 * seconds[name] for name in ("bare", "collector"))
        print(f"processor time {bare_work:.0f} and {own_work:.0f} µs per request, ratio {bare_work / own_work:.2f}")
        print(f"ratio {ratio:.2f} (median of {options.repetitions}), promised {PROMISED}")
    return 0 if ratio >= PROMISED else 1


def _request(body: bytes) -> bytes:
    """A report as it is sent; Caddy serves one host."""
    return report_bytes(body, "bench").replace(b"Host: x", b"Host: localhost")


async def _load(port: int, requests: list[bytes], door: Caddy | None) -> float:
    """The rate of an endpoint, through Caddy where one stands before it."""
    if door is None:
        return await load(port, requests)
    return await load(door.port, requests, ssl.create_default_context(cafile=door.trust))


def _processor(process: int) -> float:
    """Seconds of processor time that a process has used: what a busy machine changes little; 0 where unknown."""
    path = Path(f"/proc/{process}/stat")
    if not path.exists():
        return 0.0
    fields = path.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _start(target: Any, folder: str, proxied: bool) -> tuple[Any, Any]:
    context = multiprocessing.get_context("spawn")
    port = context.Value("i", 0)
    process = context.Process(target=target, args=(port, folder, proxied), daemon=True)
    process.start()
    while not port.value:
        if not process.is_alive():
            raise SystemExit(f"{target.__name__} did not start")
        time.sleep(0.05)
    time.sleep(0.5)
    return process, port


if __name__ == "__main__":
    sys.exit(main())
