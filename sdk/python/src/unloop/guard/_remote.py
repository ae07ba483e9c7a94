"""A server as the guard: the protocol over HTTP. After a failure it is not contacted until a backoff has passed, so that not
every call of the agent waits for an unavailable server."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from .. import _log
from .._http import Server
from .._settings import without_credentials
from ._transport import Transport, Unavailable, log_unguarded

BACKOFF = (1.0, 30.0)  # seconds: first and longest
IDLE = 8  # idle connections that are kept


class Remote(Transport):
    """A guard on a server, with a profile and its settings."""

    def __init__(self, endpoint: str, token: str, profile: str, settings: Mapping[str, Any] | None) -> None:
        super().__init__()
        self.endpoint = without_credentials(endpoint)
        self._token = token
        query = [("profile", profile), *(("set", f"{name}={_text(value)}") for name, value in (settings or {}).items())]
        self._path = "/api/guard?" + urlencode(query)
        self._idle: list[Server] = []
        self._failures = 0
        self._next = 0.0

    def start(self) -> None:
        """Does nothing: the server runs already."""

    def prepare(self) -> None:
        if self._failures and time.monotonic() < self._next:
            raise Unavailable("the server failed recently; the next attempt follows after a backoff")

    def exchange(self, lines: list[bytes], deadline: float) -> list[bytes]:
        with self._lock:
            server = self._idle.pop() if self._idle else Server(self.endpoint, self._token)
        remaining = max(deadline - time.monotonic(), 0.01)
        try:
            status, body, _ = server.request("POST", self._path, b"".join(lines), remaining, "application/x-ndjson")
        except (OSError, http.client.HTTPException, ValueError) as error:
            server.close()
            raise self._failed(f"cannot reach the server at {self.endpoint} ({type(error).__name__})") from None
        answers = body.splitlines()
        if status != 200 or len(answers) != len(lines):
            server.close()
            raise self._failed(f"{self.endpoint} returned {status}")
        with self._lock:
            if len(self._idle) < IDLE:
                self._idle.append(server)
        if self._failures:
            self._failures = 0
            _log.reset_warning("unguarded")
        return answers

    def _failed(self, why: str) -> Unavailable:
        least, most = BACKOFF
        self._next = time.monotonic() + min(least * 2 ** min(self._failures, 16), most)
        self._failures += 1
        self.generation += 1  # the server may have lost the runs
        log_unguarded(why)
        return Unavailable(why)

    def after_fork(self) -> None:
        super().after_fork()
        self._idle = []


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
