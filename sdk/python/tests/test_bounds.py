"""A million events with the server down: memory stays within its bound, and what is lost is counted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable

import unloop
from conftest import ROOT, Server, until

EVENTS = 1_000_000
# Above what Python and the package take themselves: the queue, a batch, and what the allocator does not give back.
MOST = 64 << 20

MILLION = """
import json, os, resource, sys, unloop

def resident():
    with open('/proc/self/statm') as f:
        return int(f.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')

run = unloop.Run.begin('million', id='million')
unloop.flush()
before, most = resident(), 0
for i in range(%d):
    run.event('tool_call_completed', tool='search', call_id='c', output={'hits': [i], 'of': 'loops'})
    if i %% 5000 == 0:
        most = max(most, resident())
unloop.flush()
stats = unloop.stats()
print(json.dumps({'grown': max(most, resident()) - before, 'given': stats.given, 'sent': stats.sent, 'buffered': stats.buffered,
                  'dropped': stats.dropped, 'queued': stats.queued}))
"""


def test_a_million_events_without_a_server(make_server: Callable[..., Server]) -> None:
    server = make_server()
    settings = {"UNLOOP_ENDPOINT": server.url, "UNLOOP_QUEUE_BYTES": str(16 << 20), "UNLOOP_BUFFER_BYTES": str(40 << 20)}
    done = subprocess.run(
        [sys.executable, "-c", MILLION % (EVENTS - 1)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "sdk/python/src"), **settings},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["given"] == EVENTS
    assert told["sent"] == 0
    assert told["buffered"] + told["dropped"] + told["queued"] == EVENTS
    assert told["dropped"] > 0, "the buffer was to overflow"
    assert told["grown"] < MOST, f"grew by {told['grown'] >> 20} MiB"
    at_exit = [int(line.split()[0]) for line in done.stderr.splitlines() if "dropped in total" in line]
    assert len(at_exit) == 1

    server.start()
    unloop.configure(endpoint=server.url)
    unloop.Run.begin("next", id="next")
    until(lambda: unloop.flush(60), 120)
    stats = unloop.stats()
    assert (stats.replayed, stats.rejected) == (EVENTS - at_exit[0], 0), "what was not dropped was delivered"
    assert len(server.events("million")) == EVENTS - at_exit[0]
