"""What people order on a server reaches guarded Python agents."""

from __future__ import annotations

import asyncio
import http.server
import json
import threading
import time
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest

import unloop
from conftest import Server
from unloop.guard import Guard, LoopError


def ask(server: Server, path: str, body: dict[str, Any] | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(server.url + path, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def until(reached: Callable[[], bool]) -> None:
    """Waits until a state of the server is reached."""
    deadline = time.monotonic() + 60
    while not reached():
        assert time.monotonic() < deadline, "it is not reached in a minute"
        threading.Event().wait(0.01)


class Agent:
    """A recorded run with a guarded tool."""

    def __init__(self, server: Server, run: unloop.Run) -> None:
        self.server, self.path = server, f"/api/runs/{run.id}/control"
        self.guard = Guard(run=run.id)
        self.search = self.guard.tool(lambda q: {"q": q}, name="search")
        self.search("first")
        unloop.flush()
        until(lambda: self.state()["listening"])

    def state(self) -> dict[str, Any]:
        return dict(ask(self.server, self.path))

    def order(self, act: str, **fields: str) -> None:
        """Gives an order and waits until the guard has it."""
        ask(self.server, self.path, {"act": act, **fields})
        until(lambda: self.state()["waiting"] == 0)


@pytest.fixture
def observing(server: Server, guard_bin: str) -> Server:
    unloop.configure(endpoint=server.url)
    return server


def test_a_person_nudges_halts_and_allows_a_run(observing: Server) -> None:
    with unloop.trace("agent", id="ordered") as run:
        agent = Agent(observing, run)
        agent.order("nudge", text="Look into the archive.")
        assert "Look into the archive." in json.dumps(agent.search("a"))
        assert "archive" not in json.dumps(agent.search("b"))
        agent.order("halt", text="Enough.")
        with pytest.raises(LoopError, match="A person halted this run: Enough"):
            agent.search("c")
        agent.order("allow")
        assert agent.search("d") == {"q": "d"}
    unloop.flush()
    summary = observing.run("ordered")
    assert (summary["guarded_by"], summary["worst_decision"]) == ("Python", "halt")


def test_a_paused_run_waits_until_it_is_resumed(observing: Server) -> None:
    with unloop.trace("agent", id="paused") as run:
        agent = Agent(observing, run)
        agent.order("pause", by="Ann")
        done: list[Any] = []
        call = threading.Thread(target=lambda: done.append(agent.search("late")))
        call.start()
        call.join(0.3)
        assert call.is_alive() and not done and agent.state()["paused"]
        agent.order("resume")
        call.join(60)
        assert done == [{"q": "late"}]


def test_a_paused_async_tool_does_not_hold_a_thread(observing: Server) -> None:
    async def work(agent: Agent) -> Any:
        async def look(q: str) -> str:
            return q

        tool = agent.guard.tool(look, name="look")
        calls = [asyncio.create_task(tool(str(k))) for k in range(20)]
        await asyncio.sleep(0.3)
        assert not any(call.done() for call in calls)
        await asyncio.to_thread(agent.order, "resume")
        return await asyncio.gather(*calls)

    with unloop.trace("agent", id="async") as run:
        agent = Agent(observing, run)
        agent.order("pause")
        assert asyncio.run(work(agent)) == [str(k) for k in range(20)]


def test_an_observed_run_without_a_guard_says_so(observing: Server) -> None:
    with unloop.trace("agent", id="seen"):
        pass
    unloop.flush()
    assert observing.run("seen")["guarded_by"] is None


class Scripted(http.server.BaseHTTPRequestHandler):
    """Answers requests for orders with one text after the other, and then with the last one."""

    texts: list[str]

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        text = "{}"
        if self.path == "/api/control/listen":
            text = self.texts.pop(0) if len(self.texts) > 1 else self.texts[0]
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.mark.parametrize("odd", ['{"runs":[1]}', '{"runs":[],"orders":["resume"]}', '{"runs":[{"run_id":"odd"}]}', "[]"])
def test_a_paused_run_resumes_although_an_answer_before_had_another_form(odd: str, guard_bin: str) -> None:
    def order(act: str) -> str:
        return json.dumps({"runs": [{"run_id": "odd", "after": 1}], "orders": [{"run_id": "odd", "event_id": act, "act": act}]})

    class Handler(Scripted):
        pass

    Handler.texts = [order("pause"), odd, order("resume")]

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        unloop.configure(endpoint=f"http://127.0.0.1:{server.server_port}")
        with unloop.trace("agent", id="odd") as run:
            guard = Guard(run=run.id)
            guard.before("search", {"q": "first"})
            until(lambda: len(Handler.texts) == 1)
            call = threading.Thread(target=guard.before, args=("search", {"q": "second"}), daemon=True)
            call.start()
            call.join(60)
            assert not call.is_alive()
        server.shutdown()
