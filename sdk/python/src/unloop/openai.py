"""unloop for programs that call OpenAI's API directly: wrap(client) records its calls.

It supports chat completions and responses, sync and async clients, streams, and other servers with a compatible API.
"""

from __future__ import annotations

from typing import Any, TypeVar

import openai

from ._adapter import count, get, items, openai_usage, text
from ._clients import Answer, Call, Dialect, Request, Result, StreamReader, record

Client = TypeVar("Client", openai.OpenAI, openai.AsyncOpenAI)


def wrap(client: Client) -> Client:
    """Records the client's model calls, the tool calls that the model requests, and their results in the current run.

    It returns the same client. Calls outside of unloop.trace() are not recorded.
    """
    return record(client, _dialect)


def _dialect(path: str) -> Dialect | None:
    if path.endswith("/chat/completions"):
        return Chat()
    if path.endswith("/responses"):
        return Responses()
    return None


class Chat:
    """Reads chat completions."""

    def request(self, body: Any) -> Request:
        messages = items(get(body, "messages"))
        results = [
            Result(text(get(m, "tool_call_id")), _content(get(m, "content"))) for m in messages if get(m, "role") == "tool"
        ]
        last = messages[-1] if messages else None
        user_text = _content(get(last, "content")) if get(last, "role") == "user" else ""
        return Request(text(get(body, "model")), results, text(user_text))

    def answer(self, body: Any) -> Answer:
        message = get((items(get(body, "choices")) or [None])[0], "message")
        calls = [c for c in items(get(message, "tool_calls")) if get(c, "id")]
        return Answer(
            model=text(get(body, "model")),
            tokens=count(get(body, "usage", "total_tokens")),
            usage=openai_usage(get(body, "usage"), "prompt", "completion"),
            text=text(get(message, "content")),
            calls=[self.call(c) for c in calls],
        )

    def call(self, requested: Any) -> Call:
        function = get(requested, "function") or get(requested, "custom")
        arguments = get(function, "arguments")
        return Call(get(requested, "id"), text(get(function, "name")), get(function, "input") if arguments is None else arguments)

    def stream_reader(self) -> StreamReader:
        return ChatStream()


class ChatStream:
    """Assembles the chunks of a chat completion. Usage is present only if the request asks for it."""

    def __init__(self) -> None:
        self.head: dict[str, Any] = {}
        self.text_parts: list[str] = []
        self.calls: dict[int, dict[str, Any]] = {}

    def add(self, piece: Any) -> None:
        self.head.setdefault("model", get(piece, "model"))
        if get(piece, "usage") is not None:
            self.head["usage"] = get(piece, "usage")
        for choice in items(get(piece, "choices")):
            if get(choice, "index"):
                continue  # only the first choice is recorded: the one that the agent uses is unknown
            self.text_parts.append(text(get(choice, "delta", "content")))
            for part in items(get(choice, "delta", "tool_calls")):
                self.part(part)

    def part(self, part: Any) -> None:
        call = self.calls.setdefault(get(part, "index") or 0, {"id": None, "name": "", "arguments": []})
        call["id"] = get(part, "id") or call["id"]
        call["name"] += text(get(part, "function", "name"))
        call["arguments"].append(text(get(part, "function", "arguments")))

    def answer(self) -> Answer:
        calls = [
            {"id": c["id"], "function": {"name": c["name"], "arguments": "".join(c["arguments"])}} for c in self.calls.values()
        ]
        message = {"content": "".join(self.text_parts), "tool_calls": calls}
        return Chat().answer({**self.head, "choices": [{"message": message}]})


class Responses:
    """Reads responses. A request with previous_response_id has the new items only, which is sufficient."""

    def request(self, body: Any) -> Request:
        input_value = get(body, "input")
        sent = items(input_value)
        results = [
            Result(text(get(item, "call_id")), _content(get(item, "output")))
            for item in sent
            if text(get(item, "type")).endswith("_call_output")
        ]
        last = sent[-1] if sent else None
        user_text = (
            input_value if isinstance(input_value, str) else _content(get(last, "content")) if get(last, "role") == "user" else ""
        )
        return Request(text(get(body, "model")), results, text(user_text))

    def answer(self, body: Any) -> Answer:
        output = items(get(body, "output"))
        text_parts = [
            text(get(part, "text")) for item in output if get(item, "type") == "message" for part in items(get(item, "content"))
        ]
        failed = get(body, "status") == "failed"
        return Answer(
            model=text(get(body, "model")),
            tokens=count(get(body, "usage", "total_tokens")),
            usage=openai_usage(get(body, "usage")),
            text="".join(text_parts),
            calls=[self.call(item) for item in output if get(item, "type") in ("function_call", "custom_tool_call")],
            error=(text(get(body, "error", "message")) or "the response failed") if failed else "",
        )

    def call(self, item: Any) -> Call:
        arguments = get(item, "arguments")
        return Call(text(get(item, "call_id")), text(get(item, "name")), get(item, "input") if arguments is None else arguments)

    def stream_reader(self) -> StreamReader:
        return ResponseStream()


class ResponseStream:
    """Reads the response from the last event of a stream that contains one."""

    def __init__(self) -> None:
        self.response: Any = None
        self.error = ""

    def add(self, piece: Any) -> None:
        if get(piece, "type") == "error":
            self.error = text(get(piece, "message")) or "the stream failed"
        self.response = get(piece, "response") or self.response

    def answer(self) -> Answer:
        return Answer(error=self.error) if self.error else Responses().answer(self.response)


def _content(content: Any) -> Any:
    """Returns content as a str if all of its parts are text, else unchanged."""
    parts = items(content)
    texts = [get(part, "text") for part in parts]
    return "".join(texts) if parts and all(isinstance(t, str) for t in texts) else content
