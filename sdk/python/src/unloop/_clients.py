"""Records a client of a model's API: model calls, the tool calls that the model requests, and their results.

A tool call appears in two places: the model's answer requests it, and the next request carries its result. A Dialect reads
both. This module joins them by call id and records each once, although every request repeats the history.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import time
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Protocol, TypeVar

from ._adapter import arguments, get, handoff, log_unread, never_raises, strip_nudge
from ._run import Run, current_run

Client = TypeVar("Client")

OPEN_CALLS = 4096  # calls of a run without a result; the oldest is evicted


@dataclasses.dataclass
class Call:
    """A tool call that the model requests."""

    id: str
    tool: str
    input: object


@dataclasses.dataclass
class Result:
    """The result of a tool call in a request."""

    call: str
    output: object
    failed: bool = False


@dataclasses.dataclass
class Request:
    """The content of a request: the model, the tool results, and the text of a user message at its end."""

    model: str
    results: list[Result]
    user: str = ""


@dataclasses.dataclass
class Answer:
    """The content of a model's answer."""

    model: str = ""
    tokens: int = 0
    usage: dict[str, int] = dataclasses.field(default_factory=dict)
    text: str = ""
    calls: list[Call] = dataclasses.field(default_factory=list)
    error: str = ""


class StreamReader(Protocol):
    """Assembles an answer from the pieces of a stream."""

    def add(self, piece: Any) -> None: ...
    def answer(self) -> Answer: ...


class Dialect(Protocol):
    """Reads the requests and answers of one API."""

    def request(self, body: Any) -> Request: ...
    def answer(self, body: Any) -> Answer: ...
    def stream_reader(self) -> StreamReader: ...


class Conversation:
    """The open tool calls and the last user message of a run."""

    def __init__(self) -> None:
        self.open: dict[str, str] = {}  # call id to tool name
        self.user = ""

    def call_requested(self, run: Run, call: Call) -> None:
        to = handoff(call.tool, call.input)
        if to:
            run.event("handoff_started", agent=to)
            return
        self.open.pop(call.id, None)
        self.open[call.id] = call.tool
        while len(self.open) > OPEN_CALLS:
            del self.open[next(iter(self.open))]
        run.event("tool_call_started", tool=call.tool, call_id=call.id, input=call.input)

    def request_sent(self, run: Run, request: Request) -> None:
        results_by_call = {result.call: result for result in request.results}  # of equal ids the last counts
        for result in results_by_call.values():
            tool = self.open.pop(result.call, None)
            if tool is None:
                continue
            output, refused = strip_nudge(result.output)
            kind = "tool_call_blocked" if refused else "tool_call_failed" if result.failed else "tool_call_completed"
            if result.failed and not refused:
                run.event(kind, tool=tool, call_id=result.call, error=output)
            else:
                run.event(kind, tool=tool, call_id=result.call, output=output)
        if request.user and request.user != self.user:
            self.user = request.user
            run.event("message", role="user", text=request.user)


_conversations: weakref.WeakKeyDictionary[Run, Conversation] = weakref.WeakKeyDictionary()


class Recording:
    """One model call, from its request to the end of its answer."""

    def __init__(self, dialect: Dialect, run: Run, body: Any) -> None:
        self.dialect, self.run = dialect, run
        self.conversation = _conversations.setdefault(run, Conversation())
        request = dialect.request(body)
        self.conversation.request_sent(run, request)
        self.model = request.model
        self.start = run.event("llm_call_started", model=request.model)
        self.started_at = time.monotonic()
        self.over = False

    @never_raises
    def failed(self, error: object) -> None:
        if self.over:
            return
        self.over = True
        self.run.event("llm_call_failed", model=self.model, error=error, latency_ms=self.latency(), parent_event_id=self.start)

    @never_raises
    def answered(self, answer: Answer) -> None:
        if self.over:
            return
        if answer.error:
            self.failed(answer.error)
            return
        self.over = True
        self.run.event(
            "llm_call_completed",
            model=answer.model or self.model,
            tokens=answer.tokens or None,
            usage=answer.usage,
            latency_ms=self.latency(),
            parent_event_id=self.start,
        )
        if answer.text:
            self.run.event("message", role="assistant", text=answer.text)
        for call in answer.calls:
            call.input = arguments(call.input)
            self.conversation.call_requested(self.run, call)

    @never_raises
    def returned(self, value: Any) -> None:
        """Records the return value of the client: an answer or a stream."""
        if hasattr(type(value), "__stream__"):
            self.record_stream(value)
        elif hasattr(value, "close"):
            self.answered(Answer())  # a raw response: only the agent may read its body
        else:
            self.answered(self.dialect.answer(value))

    def record_stream(self, stream: Any) -> None:
        """Records the pieces of a stream. The stream object stays the same and its class a subclass of the original."""
        kind: Any = type(stream)
        stream._unloop = (self, self.dialect.stream_reader())
        stream.__class__ = _recording_class(kind)

    def latency(self) -> float:
        return (time.monotonic() - self.started_at) * 1000


@functools.cache
def _recording_class(base: Any) -> type:
    """Returns a subclass of a stream class that records the pieces it yields."""

    def __iter__(self: Any) -> Iterator[Any]:
        return _recorded(self, base.__iter__(self))

    def __next__(self: Any) -> Any:
        try:
            piece = base.__next__(self)
        except BaseException as error:
            _end_stream(self, error)
            raise
        _add_piece(self, piece)
        return piece

    def __aiter__(self: Any) -> AsyncIterator[Any]:
        return _arecorded(self, base.__aiter__(self))

    async def __anext__(self: Any) -> Any:
        try:
            piece = await base.__anext__(self)
        except BaseException as error:
            _end_stream(self, error)
            raise
        _add_piece(self, piece)
        return piece

    def close(self: Any) -> Any:
        _end_stream(self, None)
        return base.close(self)

    members: dict[str, Any] = {"__iter__": __iter__, "__next__": __next__}
    if hasattr(base, "__anext__"):
        members = {"__aiter__": __aiter__, "__anext__": __anext__}
    return type(base.__name__, (base,), {**members, "close": close, "__module__": base.__module__})


def _recorded(stream: Any, pieces: Iterator[Any]) -> Iterator[Any]:
    try:
        for piece in pieces:
            _add_piece(stream, piece)
            yield piece
    except BaseException as error:
        _end_stream(stream, error)
        raise
    _end_stream(stream, None)


async def _arecorded(stream: Any, pieces: AsyncIterator[Any]) -> AsyncIterator[Any]:
    try:
        async for piece in pieces:
            _add_piece(stream, piece)
            yield piece
    except BaseException as error:
        _end_stream(stream, error)
        raise
    _end_stream(stream, None)


@never_raises
def _add_piece(stream: Any, piece: Any) -> None:
    stream._unloop[1].add(piece)


@never_raises
def _end_stream(stream: Any, error: BaseException | None) -> None:
    """Ends a recording. A stream that is closed or abandoned is recorded with the pieces read so far."""
    recording, stream_reader = stream._unloop
    if isinstance(error, Exception) and not isinstance(error, (StopIteration, StopAsyncIteration)):
        recording.failed(error)
        return
    recording.answered(stream_reader.answer())


@never_raises
def _parsed(value: Any) -> Any:
    """Returns the content of a raw response. The response caches it, so the agent gets the same object.

    A streamed raw response is returned as it is, because only the agent may read it from the network.
    """
    raw = get(value, "http_response", "request", "headers")
    if raw is None or raw.get("x-stainless-raw-response") == "stream":
        return value
    return value.parse()


async def _aparsed(value: Any) -> Any:
    parsed = _parsed(value)
    if not inspect.isawaitable(parsed):
        return parsed
    try:
        return await parsed
    except Exception as error:
        log_unread(_aparsed, error)
        return None


def record(client: Client, dialect_of: Callable[[str], Dialect | None]) -> Client:
    """Records the calls of the client, and of its copies, in the current run. Returns the same client."""
    if "request" in vars(client):
        return client
    target: Any = client
    request, copy = target.request, target.copy

    def begin(options: Any) -> Recording | None:
        try:
            run = current_run()
            dialect = dialect_of(str(options.url).partition("?")[0]) if str(options.method).lower() == "post" else None
            return Recording(dialect, run, options.json_data) if run and dialect else None
        except Exception as error:
            log_unread(begin, error)
            return None

    def call(cast_to: Any, options: Any, **kwargs: Any) -> Any:
        recording = begin(options)
        try:
            value = request(cast_to, options, **kwargs)
        except BaseException as error:
            if recording:
                recording.failed(error)
            raise
        if recording:
            recording.returned(_parsed(value))
        return value

    async def acall(cast_to: Any, options: Any, **kwargs: Any) -> Any:
        recording = begin(options)
        try:
            value = await request(cast_to, options, **kwargs)
        except BaseException as error:
            if recording:
                recording.failed(error)
            raise
        if recording:
            recording.returned(await _aparsed(value))
        return value

    def copy_and_record(*args: Any, **kwargs: Any) -> Any:
        return record(copy(*args, **kwargs), dialect_of)

    target.request = acall if hasattr(client, "__aenter__") else call
    target.copy = target.with_options = copy_and_record
    return client
