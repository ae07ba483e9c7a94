"""One connection to a server, kept open between requests. A response is reduced to an outcome: whether the sender continues,
retries later, or drops these lines."""

from __future__ import annotations

import dataclasses
import encodings.idna  # noqa: F401  # a connection imports it, and a process that is forked meanwhile could never import it
import enum
import http.client
import json
import ssl
from typing import Any
from urllib.parse import urlsplit

MAX_ANSWER = 4 << 20  # largest response body that is read, in bytes


class Outcome(enum.Enum):
    ACCEPTED = "accepted"  # possibly with rejected events
    REFUSED = "refused"  # all events are invalid; retrying does not help
    TOO_LARGE = "too large"  # a smaller batch may be accepted
    UNAVAILABLE = "unavailable"  # no server, or the server accepts nothing now


@dataclasses.dataclass
class Answer:
    outcome: Outcome
    rejected: int = 0
    reason: str = ""
    retry_after: float = 0.0  # seconds to wait, if the server says so


class Server:
    """An HTTP client of one server. Not safe for concurrent use."""

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
        """Sends events, one per line. Sending an event again is safe: the server ignores ids that it already has."""
        try:
            status, body, retry_after = self.request("POST", "/api/events", b"".join(lines), timeout, "application/x-ndjson")
        except (OSError, http.client.HTTPException, ValueError) as error:
            return Answer(Outcome.UNAVAILABLE, reason=f"cannot reach the server at {self.endpoint} ({type(error).__name__})")
        return _parse_answer(status, body, retry_after, self.endpoint)

    def request(
        self, method: str, path: str, body: bytes | None, timeout: float, kind: str = "application/json"
    ) -> tuple[int, bytes, float]:
        """Returns status, body and Retry-After in seconds. Without a response it raises OSError, HTTPException or ValueError."""
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
                    continue  # the server may have closed an idle connection: retry once on a new one
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
            raise ValueError("invalid endpoint: want an http or https URL")
        if parts.scheme == "https":
            context = ssl.create_default_context()
            self._connection = http.client.HTTPSConnection(parts.hostname, parts.port, timeout=timeout, context=context)
        else:
            self._connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout)
        self._path, self._used = parts.path.rstrip("/"), False
        return self._connection


def _seconds(text: str | None) -> float:
    return min(float(text), 60.0) if text and text.isascii() and text.isdigit() else 0.0


def _parse_answer(status: int, body: bytes, retry_after: float, endpoint: str) -> Answer:
    parsed = json_object(body)
    reason = str(parsed.get("detail") or parsed.get("title") or "")[:300]
    if status // 100 == 2:
        first = (parsed.get("errors") or [{}])[0]
        return Answer(Outcome.ACCEPTED, int(parsed.get("rejected") or 0), f"{first.get('field', '')}: {first.get('reason', '')}")
    if status == 400 and parsed.get("errors"):
        return Answer(
            Outcome.REFUSED, len(parsed["errors"]), f"{parsed.get('field') or 'event'}: {parsed.get('reason') or reason}"
        )
    if status in (400, 413, 422):
        return Answer(Outcome.TOO_LARGE, reason=reason)
    if status in (401, 403):
        return Answer(
            Outcome.UNAVAILABLE,
            reason=f"{endpoint} denied access, check UNLOOP_TOKEN: {reason or status}",
            retry_after=retry_after,
        )
    return Answer(Outcome.UNAVAILABLE, reason=f"{endpoint} returned {status} {reason}".rstrip(), retry_after=retry_after)


def json_object(body: bytes) -> dict[str, Any]:
    """Returns body as a JSON object, or an empty dict if it is none."""
    try:
        parsed = json.loads(body)
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) else {}
