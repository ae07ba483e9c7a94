"""A server as the guard: the same lines over HTTP. After a failure it is left alone for a while, so that not every call of
the agent waits for a server that is away."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from .. import _log
from .._http import Server
from .._settings import bare
from ._link import Link, Unavailable, say_unguarded

BACKOFF = (1.0, 30.0)  # seconds: first, and most
IDLE = 8  # connections that are kept


class Remote(Link):
    """The guard of a server for a profile and its settings."""

    def __init__(self, endpoint: str, token: str, profile: str, settings: Mapping[str, Any] | None) -> None:
        super().__init__()
        self.endpoint = bare(endpoint)
        self._token = token
        query = [("profile", profile), *(("set", f"{name}={_text(value)}") for name, value in (settings or {}).items())]
        self._path = "/api/guard?" + urlencode(query)
        self._idle: list[Server] = []
        self._failures = 0
        self._next = 0.0

    def start(self) -> None:
        """Nothing needs to be started."""

    def prepare(self) -> None:
        if self._failures and time.monotonic() < self._next:
            raise Unavailable("the server did not answer a moment ago")

    def exchange(self, lines: list[bytes], end: float) -> list[bytes]:
        with self._lock:
            server = self._idle.pop() if self._idle else Server(self.endpoint, self._token)
        left = max(end - time.monotonic(), 0.01)
        try:
            status, body, _ = server.request("POST", self._path, b"".join(lines), left, "application/x-ndjson")
        except (OSError, http.client.HTTPException, ValueError) as error:
            server.close()
            raise self._failed(f"no server answers at {self.endpoint} ({type(error).__name__})") from None
        answers = body.splitlines()
        if status != 200 or len(answers) != len(lines):
            server.close()
            raise self._failed(f"{self.endpoint} answers {status}")
        with self._lock:
            if len(self._idle) < IDLE:
                self._idle.append(server)
        if self._failures:
            self._failures = 0
            _log.again("unguarded")
        return answers

    def _failed(self, why: str) -> Unavailable:
        least, most = BACKOFF
        self._next = time.monotonic() + min(least * 2 ** min(self._failures, 16), most)
        self._failures += 1
        self.generation += 1  # it may have forgotten the runs
        say_unguarded(why)
        return Unavailable(why)

    def after_fork(self) -> None:
        super().after_fork()
        self._idle = []


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
