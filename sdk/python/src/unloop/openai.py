"""unloop for programs that call OpenAI's API by themselves: wrap(client) has its calls recorded.

Chat completions and responses; sync, async and streams; also other servers that speak either.
"""

from __future__ import annotations

from typing import Any, TypeVar

import openai

from ._adapter import count, get, items, openai_usage, text
from ._clients import Answer, Call, Dialect, Gathering, Request, Result, record

Client = TypeVar("Client", openai.OpenAI, openai.AsyncOpenAI)


def wrap(client: Client) -> Client:
    """Has the client tell the current run (unloop.trace) of its calls, of the tools that the model asks for, and their results.

    It returns the same client. Outside of a run nothing is recorded.
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
        said = _content(get(last, "content")) if get(last, "role") == "user" else ""
        return Request(text(get(body, "model")), results, text(said))

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

    def call(self, asked: Any) -> Call:
        what = get(asked, "function") or get(asked, "custom")
        given = get(what, "arguments")
        return Call(get(asked, "id"), text(get(what, "name")), get(what, "input") if given is None else given)

    def gathering(self) -> Gathering:
        return ChatStream()


class ChatStream:
    """Puts the chunks of a chat completion together. Where no usage is asked for, none comes."""

    def __init__(self) -> None:
        self.whole: dict[str, Any] = {}
        self.said: list[str] = []
        self.calls: dict[int, dict[str, Any]] = {}

    def add(self, piece: Any) -> None:
        self.whole.setdefault("model", get(piece, "model"))
        if get(piece, "usage") is not None:
            self.whole["usage"] = get(piece, "usage")
        for choice in items(get(piece, "choices")):
            if get(choice, "index"):
                continue  # the agent goes on with one of several, and which is not known
            self.said.append(text(get(choice, "delta", "content")))
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
        message = {"content": "".join(self.said), "tool_calls": calls}
        return Chat().answer({**self.whole, "choices": [{"message": message}]})


class Responses:
    """Reads responses. With previous_response_id a request has the new items only, and that is enough."""

    def request(self, body: Any) -> Request:
        given = get(body, "input")
        sent = items(given)
        results = [
            Result(text(get(item, "call_id")), _content(get(item, "output")))
            for item in sent
            if text(get(item, "type")).endswith("_call_output")
        ]
        last = sent[-1] if sent else None
        said = given if isinstance(given, str) else _content(get(last, "content")) if get(last, "role") == "user" else ""
        return Request(text(get(body, "model")), results, text(said))

    def answer(self, body: Any) -> Answer:
        output = items(get(body, "output"))
        said = [
            text(get(part, "text")) for item in output if get(item, "type") == "message" for part in items(get(item, "content"))
        ]
        failed = get(body, "status") == "failed"
        return Answer(
            model=text(get(body, "model")),
            tokens=count(get(body, "usage", "total_tokens")),
            usage=openai_usage(get(body, "usage")),
            text="".join(said),
            calls=[self.call(item) for item in output if get(item, "type") in ("function_call", "custom_tool_call")],
            error=(text(get(body, "error", "message")) or "the response failed") if failed else "",
        )

    def call(self, item: Any) -> Call:
        given = get(item, "arguments")
        return Call(text(get(item, "call_id")), text(get(item, "name")), get(item, "input") if given is None else given)

    def gathering(self) -> Gathering:
        return ResponseStream()


class ResponseStream:
    """Waits for the event of a stream that has the whole response."""

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
    """Returns a content as a text where it is made of texts only."""
    parts = items(content)
    texts = [get(part, "text") for part in parts]
    return "".join(texts) if parts and all(isinstance(t, str) for t in texts) else content
