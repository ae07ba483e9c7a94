"""Receives the orders of people for guarded runs. One thread of the process asks the server that its runs are recorded on.
It runs while there are such runs."""

from __future__ import annotations

import contextlib
import dataclasses
import http.client
import json
import os
import threading
from typing import Any

from .. import _core
from .._http import Server, json_object
from .._run import observed_run
from .._serialize import quote
from ._transport import RunState, Transport, Unavailable

WAIT_MS = 800  # of a request; a run that begins meanwhile is part of the next one
BACKOFF = (1.0, 30.0)  # seconds: first and longest
FORWARD_SECONDS = 2.0  # limit for passing an order on to the guard
MAX_RUNS = 1000  # of one request; the others hear nothing


@dataclasses.dataclass
class _Listener:
    run_state: RunState
    transport: Transport
    after: int = -1  # number of the last order; -1 for none


class _Orders:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.listeners: dict[str, _Listener] = {}
        self.thread: threading.Thread | None = None
        self.begun = threading.Event()  # set when a run is added, which ends a backoff

    def add(self, run_state: RunState, transport: Transport) -> None:
        with self.lock:
            known = self.listeners.get(run_state.name)
            if (known is not None and known.run_state is run_state) or len(self.listeners) >= MAX_RUNS:
                return
            self.listeners[run_state.name] = _Listener(run_state, transport)
            self.begun.set()
            if self.thread is None:
                self.thread = threading.Thread(target=self._listen, name="unloop-orders", daemon=True)
                with contextlib.suppress(RuntimeError):  # the interpreter is shutting down
                    self.thread.start()

    def _current(self) -> list[dict[str, Any]]:
        """Returns the runs to ask for. Runs that have ended are removed; without any, the thread ends."""
        with self.lock:
            for name in [name for name in self.listeners if observed_run(name) is None]:
                self.listeners.pop(name).run_state.running.set()
            if not self.listeners:
                self.thread = None
            return [{"run_id": name, "after": listener.after} for name, listener in self.listeners.items()]

    def _listen(self) -> None:
        server = Server("", "")
        failures = 0
        while runs := self._current():
            settings = _core.settings()
            if (server.endpoint, server.token) != (settings.endpoint, settings.token):
                server.close()
                server = Server(settings.endpoint, settings.token)
            self.begun.clear()
            answer: _Answer | None = None
            with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
                answer = _ask(server, runs)
            if answer is None:
                server.close()
                least, most = BACKOFF
                self.begun.wait(min(least * 2 ** min(failures, 16), most))
                failures += 1
                continue
            failures = 0
            self._deliver(answer)
        server.close()

    def _deliver(self, answer: _Answer) -> None:
        for name, order in answer.orders:
            if (listener := self.listeners.get(name)) is not None:
                _carry_out(listener, order)
        for name, after in answer.after.items():
            if (listener := self.listeners.get(name)) is not None:
                listener.after = after


@dataclasses.dataclass
class _Answer:
    """What the server answers: the orders, each with its run, and the number of the last order of each run."""

    orders: list[tuple[str, dict[str, Any]]]
    after: dict[str, int]


def _ask(server: Server, runs: list[dict[str, Any]]) -> _Answer:
    """Asks for the orders of runs. Raises ValueError if the server refuses, or if its answer has another form."""
    body = json.dumps({"runs": runs, "wait_ms": WAIT_MS}).encode()
    status, text, _ = server.request("POST", "/api/control/listen", body, WAIT_MS / 1000 + 5)
    try:
        answer = json_object(text)
        orders = [(str(order["run_id"]), dict(order)) for order in answer.get("orders") or []]
        after = {str(run["run_id"]): int(run["after"]) for run in answer["runs"]}
    except (TypeError, LookupError) as fault:
        raise ValueError(f"status {status}, and no orders") from fault
    return _Answer(orders, after)


def _carry_out(listener: _Listener, order: dict[str, Any]) -> None:
    """Pauses the run; or ends a pause, and passes the order to the guard, which informs the agent."""
    if order.get("act") == "pause":
        listener.run_state.running.clear()
        return
    fields = {"order": order.get("event_id"), "act": order.get("act"), "text": order.get("text"), "tool": order.get("tool")}
    members = "".join(f',"{name}":{quote(value)}' for name, value in fields.items() if isinstance(value, str))
    line = f'{{"op":"control","run":{quote(listener.run_state.name)}{members}}}\n'
    with contextlib.suppress(Unavailable):
        listener.transport.ask(listener.run_state, line.encode("utf-8", "replace"), FORWARD_SECONDS)
    if order.get("act") != "nudge":
        listener.run_state.running.set()


_orders = _Orders()


def listen(run_state: RunState, transport: Transport) -> None:
    """Carries out the orders for a run that this process records, until the run ends."""
    _orders.add(run_state, transport)


def _after_fork() -> None:
    global _orders
    _orders = _Orders()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
