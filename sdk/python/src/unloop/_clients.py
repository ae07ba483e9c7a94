"""What is recorded of a client of a model's API: calls of the model, the tool calls that it asks for, and what came of them.

A client tells of tools in two places: the answer of the model asks for a call, and the next request carries its result. A
dialect reads the two; what is here joins them by call id, and takes each once, however often a request repeats its history.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import time
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Protocol, TypeVar

from ._adapter import arguments, get, handoff, plain, quietly, unread
from ._run import Run, current_run

Client = TypeVar("Client")

OPEN_CALLS = 4096  # of a run; the oldest is forgotten


@dataclasses.dataclass
class Call:
    """A call of a tool that the model asks for."""

    id: str
    tool: str
    input: object


@dataclasses.dataclass
class Result:
    """The result of a tool, as a request carries it."""

    call: str
    output: object
    failed: bool = False


@dataclasses.dataclass
class Request:
    """What a request says: the model, the results that it carries, and what a user says at its end."""

    model: str
    results: list[Result]
    user: str = ""


@dataclasses.dataclass
class Answer:
    """What a model answers."""

    model: str = ""
    tokens: int = 0
    usage: dict[str, int] = dataclasses.field(default_factory=dict)
    text: str = ""
    calls: list[Call] = dataclasses.field(default_factory=list)
    error: str = ""


class Gathering(Protocol):
    """Puts together what a stream tells in pieces."""

    def add(self, piece: Any) -> None: ...
    def answer(self) -> Answer: ...


class Dialect(Protocol):
    """Reads one API."""

    def request(self, body: Any) -> Request: ...
    def answer(self, body: Any) -> Answer: ...
    def gathering(self) -> Gathering: ...


class Conversation:
    """What a run's calls are joined by."""

    def __init__(self) -> None:
        self.open: dict[str, str] = {}  # call ids to tools
        self.user = ""

    def asked(self, run: Run, call: Call) -> None:
        to = handoff(call.tool, call.input)
        if to:
            run.event("handoff_started", agent=to)
            return
        self.open.pop(call.id, None)
        self.open[call.id] = call.tool
        while len(self.open) > OPEN_CALLS:
            del self.open[next(iter(self.open))]
        run.event("tool_call_started", tool=call.tool, call_id=call.id, input=call.input)

    def told(self, run: Run, request: Request) -> None:
        came = {result.call: result for result in request.results}  # where ids come again, the last one counts
        for result in came.values():
            tool = self.open.pop(result.call, None)
            if tool is None:
                continue
            output, refused = plain(result.output)
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
    """One call of a model, from its request to the end of its answer."""

    def __init__(self, dialect: Dialect, run: Run, body: Any) -> None:
        self.dialect, self.run = dialect, run
        self.talk = _conversations.setdefault(run, Conversation())
        request = dialect.request(body)
        self.talk.told(run, request)
        self.model = request.model
        self.start = run.event("llm_call_started", model=request.model)
        self.began = time.monotonic()
        self.over = False

    @quietly
    def failed(self, error: object) -> None:
        if self.over:
            return
        self.over = True
        self.run.event("llm_call_failed", model=self.model, error=error, latency_ms=self.latency(), parent_event_id=self.start)

    @quietly
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
            self.talk.asked(self.run, call)

    @quietly
    def returned(self, value: Any) -> None:
        """Takes what the client gives back: an answer, or a stream of one."""
        if hasattr(type(value), "__stream__"):
            self.follow(value)
        elif hasattr(value, "close"):
            self.answered(Answer())  # the agent reads it by itself
        else:
            self.answered(self.dialect.answer(value))

    def follow(self, stream: Any) -> None:
        """Has the stream tell of its pieces. It stays what it is, for those who look at its class."""
        kind: Any = type(stream)
        stream._unloop = (self, self.dialect.gathering())
        stream.__class__ = _followed(kind)

    def latency(self) -> float:
        return (time.monotonic() - self.began) * 1000


@functools.cache
def _followed(base: Any) -> type:
    """Makes a class of streams that tell of their pieces."""

    def __iter__(self: Any) -> Iterator[Any]:
        return _pieces(self, base.__iter__(self))

    def __next__(self: Any) -> Any:
        try:
            piece = base.__next__(self)
        except BaseException as error:
            _end(self, error)
            raise
        _add(self, piece)
        return piece

    def __aiter__(self: Any) -> AsyncIterator[Any]:
        return _apieces(self, base.__aiter__(self))

    async def __anext__(self: Any) -> Any:
        try:
            piece = await base.__anext__(self)
        except BaseException as error:
            _end(self, error)
            raise
        _add(self, piece)
        return piece

    def close(self: Any) -> Any:
        _end(self, None)
        return base.close(self)

    members: dict[str, Any] = {"__iter__": __iter__, "__next__": __next__}
    if hasattr(base, "__anext__"):
        members = {"__aiter__": __aiter__, "__anext__": __anext__}
    return type(base.__name__, (base,), {**members, "close": close, "__module__": base.__module__})


def _pieces(stream: Any, pieces: Iterator[Any]) -> Iterator[Any]:
    try:
        for piece in pieces:
            _add(stream, piece)
            yield piece
    except BaseException as error:
        _end(stream, error)
        raise
    _end(stream, None)


async def _apieces(stream: Any, pieces: AsyncIterator[Any]) -> AsyncIterator[Any]:
    try:
        async for piece in pieces:
            _add(stream, piece)
            yield piece
    except BaseException as error:
        _end(stream, error)
        raise
    _end(stream, None)


@quietly
def _add(stream: Any, piece: Any) -> None:
    stream._unloop[1].add(piece)


@quietly
def _end(stream: Any, error: BaseException | None) -> None:
    """Ends a recording. Who stops reading a stream, or closes it, has what came until then."""
    recording, gathering = stream._unloop
    if isinstance(error, Exception) and not isinstance(error, (StopIteration, StopAsyncIteration)):
        recording.failed(error)
        return
    recording.answered(gathering.answer())


@quietly
def _parsed(value: Any) -> Any:
    """Returns what a raw response holds. It keeps what it has parsed, so that the agent gets the same; one that the agent reads
    from the network by itself is left alone."""
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
        unread(_aparsed, error)
        return None


def record(client: Client, dialect_of: Callable[[str], Dialect | None]) -> Client:
    """Makes the client, and those that are derived from it, tell the current run of their calls. Returns the same client."""
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
            unread(begin, error)
            return None

    def call(cast_to: Any, options: Any, **how: Any) -> Any:
        recording = begin(options)
        try:
            value = request(cast_to, options, **how)
        except BaseException as error:
            if recording:
                recording.failed(error)
            raise
        if recording:
            recording.returned(_parsed(value))
        return value

    async def acall(cast_to: Any, options: Any, **how: Any) -> Any:
        recording = begin(options)
        try:
            value = await request(cast_to, options, **how)
        except BaseException as error:
            if recording:
                recording.failed(error)
            raise
        if recording:
            recording.returned(await _aparsed(value))
        return value

    def derived(*args: Any, **how: Any) -> Any:
        return record(copy(*args, **how), dialect_of)

    target.request = acall if hasattr(client, "__aenter__") else call
    target.copy = target.with_options = derived
    return client
