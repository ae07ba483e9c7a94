"""One connection to a server, kept open between requests. What the server answers is put into few words here: who sends
has only to know whether to go on, to come again, or to give up on these lines."""

from __future__ import annotations

import dataclasses
import enum
import http.client
import json
import ssl
from typing import Any
from urllib.parse import urlsplit

MAX_ANSWER = 4 << 20  # bytes of an answer that are read


class Outcome(enum.Enum):
    TAKEN = "taken"  # with what was refused of it
    REFUSED = "refused"  # nothing of it can be taken, now or later
    TOO_MUCH = "too much"  # less at once may be taken
    AWAY = "away"  # no server, or none that takes anything now


@dataclasses.dataclass
class Answer:
    outcome: Outcome
    rejected: int = 0
    reason: str = ""
    after: float = 0.0  # seconds, where the server asks to be asked again


class Server:
    """Speaks HTTP to one server. One thread at a time."""

    def __init__(self, endpoint: str, token: str) -> None:
        self.endpoint = endpoint
        self.token = token
        self._connection: http.client.HTTPConnection | None = None
        self._used = False
        self._path = ""

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def send(self, lines: list[bytes], timeout: float) -> Answer:
        """Sends events, one a line. To send the same again is safe: the server knows them by their ids."""
        try:
            status, body, after = self.request("POST", "/api/events", b"".join(lines), timeout, "application/x-ndjson")
        except (OSError, http.client.HTTPException, ValueError) as error:
            return Answer(Outcome.AWAY, reason=f"no server answers at {self.endpoint} ({type(error).__name__})")
        return _read(status, body, after, self.endpoint)

    def request(
        self, method: str, path: str, body: bytes | None, timeout: float, kind: str = "application/json"
    ) -> tuple[int, bytes, float]:
        """Returns status, body and Retry-After. Raises OSError, HTTPException or ValueError if there was no answer."""
        headers = {"Content-Type": kind, "User-Agent": "unloop-python"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        while True:
            connection = self._open(timeout)
            reused, self._used = self._used, True
            try:
                connection.request(method, self._path + path, body, headers)
                answer = connection.getresponse()
                data = answer.read(MAX_ANSWER + 1)
            except TimeoutError:
                self.close()
                raise
            except (OSError, http.client.HTTPException):
                self.close()
                if reused:
                    continue  # a server closes connections that were idle; once more on a new one
                raise
            if answer.will_close or len(data) > MAX_ANSWER:
                self.close()
            return answer.status, data, _seconds(answer.getheader("Retry-After"))

    def _open(self, timeout: float) -> http.client.HTTPConnection:
        if self._connection is not None:
            if self._connection.sock is not None:
                self._connection.sock.settimeout(timeout)
            return self._connection
        parts = urlsplit(self.endpoint)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("the endpoint is no URL of a server")
        if parts.scheme == "https":
            context = ssl.create_default_context()
            self._connection = http.client.HTTPSConnection(parts.hostname, parts.port, timeout=timeout, context=context)
        else:
            self._connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout)
        self._path, self._used = parts.path.rstrip("/"), False
        return self._connection


def _seconds(text: str | None) -> float:
    return min(float(text), 60.0) if text and text.isascii() and text.isdigit() else 0.0


def _read(status: int, body: bytes, after: float, endpoint: str) -> Answer:
    said = json_object(body)
    reason = str(said.get("detail") or said.get("title") or "")[:300]
    if status // 100 == 2:
        first = (said.get("errors") or [{}])[0]
        return Answer(Outcome.TAKEN, int(said.get("rejected") or 0), f"{first.get('field', '')}: {first.get('reason', '')}")
    if status == 400 and said.get("errors"):
        return Answer(Outcome.REFUSED, len(said["errors"]), f"{said.get('field') or 'event'}: {said.get('reason') or reason}")
    if status in (400, 413, 422):
        return Answer(Outcome.TOO_MUCH, reason=reason)
    if status in (401, 403):
        return Answer(Outcome.AWAY, reason=f"{endpoint} does not let us in, see UNLOOP_TOKEN: {reason or status}", after=after)
    return Answer(Outcome.AWAY, reason=f"{endpoint} answers {status} {reason}".rstrip(), after=after)


def json_object(body: bytes) -> dict[str, Any]:
    """Returns the object that a body is; an empty one where it is none."""
    try:
        said = json.loads(body)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}
