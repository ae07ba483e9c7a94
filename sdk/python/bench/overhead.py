"""Measures the cost of unloop on the agent's thread: of an event, an observed call, and a decision of the guard.

UNLOOP_BIN is the path of the program. The benchmark starts its server on a free port. Times are in microseconds on the agent's
thread, while the sending thread runs.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable

import unloop
from unloop.guard._binary import find

RESULT = {"query": "loops", "hits": [{"title": f"page {i}", "text": "what it says " * 10} for i in range(10)]}


def measure(what: str, times: int, act: Callable[[int], object]) -> None:
    """Prints the wall time and the CPU time of a call in this thread."""
    taken, used = [], time.thread_time()
    for i in range(times):
        began = time.perf_counter()
        act(i)
        taken.append(time.perf_counter() - began)
    told(what, taken, (time.thread_time() - used) / times)


def told(what: str, taken: list[float], used: float | None = None) -> None:
    taken.sort()
    p50, p99 = taken[len(taken) // 2], taken[len(taken) * 99 // 100]
    cpu = "" if used is None else f"   processor {used * 1e6:6.1f}"
    print(f"{what:<46} p50 {p50 * 1e6:7.1f}   p99 {p99 * 1e6:7.1f}{cpu}")


def observe(events: int) -> None:
    @unloop.observe
    def search(query: str) -> object:
        return RESULT

    def nothing(i: int) -> None:
        pass

    measure("(an empty loop)", events, nothing)
    with unloop.trace("bench") as run:
        measure("event, small", events, lambda i: run.event("message", text="hi", role="assistant"))
        small = {"query": "loops", "limit": 10}
        measure("event, a call's arguments", events, lambda i: run.event("tool_call_started", tool="t", call_id="c", input=small))
        measure("event, a result of 1.5 kB", events, lambda i: run.event("tool_call_completed", tool="t", output=RESULT))
        measure("observed call: two events, a result of 1.5 kB", events // 2, lambda i: search("loops"))
        print(unloop.stats())
    began = time.perf_counter()
    done = unloop.flush(60)
    print(f"the rest was sent in {time.perf_counter() - began:.2f} s: {done}, dropped {unloop.stats().dropped}")
    unloop.configure(enabled=False)
    measure("observed call, disabled", events, lambda i: search("loops"))
    unloop.configure(enabled=True)


def guard(calls: int, endpoint: str) -> None:
    small = {"path": "src/module.py", "offset": 0}
    for where, asked in (("child", unloop.Guard()), ("server", unloop.Guard(endpoint=endpoint))):
        both(where, asked, calls, small)

    async def main() -> list[float]:
        asked, taken = unloop.AsyncGuard(), []
        for i in range(calls):
            began = time.perf_counter()
            await asked.before("read_file", {**small, "offset": i}, id=str(i))
            taken.append(time.perf_counter() - began)
            await asked.after("read_file", {**small, "offset": i}, {"lines": i}, id=str(i))
        return taken

    told("guard, child, asyncio, before", asyncio.run(main()))


def both(where: str, asked: unloop.Guard, calls: int, args: dict[str, object]) -> None:
    before, after = [], []
    for i in range(calls):
        began = time.perf_counter()
        asked.before("read_file", {**args, "offset": i}, id=str(i))
        middle = time.perf_counter()
        asked.after("read_file", {**args, "offset": i}, {"lines": i}, id=str(i))
        before.append(middle - began)
        after.append(time.perf_counter() - middle)
    told(f"guard, {where}, before", before)
    told(f"guard, {where}, after", after)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=50_000)
    parser.add_argument("--calls", type=int, default=5_000)
    args = parser.parse_args()
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["UNLOOP_BUFFER"] = folder + "/buffer"
        command = [find(), "serve", "--addr", f"127.0.0.1:{port}", "--grpc-addr", "off", "--db", folder + "/unloop.db"]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            unloop.configure(endpoint=f"http://127.0.0.1:{port}")
            wait(f"http://127.0.0.1:{port}/api/health")
            observe(args.events)
            guard(args.calls, f"http://127.0.0.1:{port}")
            unloop.shutdown()
        finally:
            server.terminate()
            server.wait()


def wait(address: str) -> None:
    for _ in range(1000):
        try:
            with urllib.request.urlopen(address, timeout=1):
                return
        except OSError:
            time.sleep(0.01)
    raise SystemExit("the server did not start")


if __name__ == "__main__":
    main()
