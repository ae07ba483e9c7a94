"""unloop for programs that call Anthropic's API directly: wrap(client) records its calls of the Messages API.

It supports sync and async clients, streams, and the clients for Bedrock, Vertex and Foundry.
"""

from __future__ import annotations

from typing import Any, TypeVar

import anthropic

from ._adapter import count, get, items, text, usage
from ._clients import Answer, Call, Dialect, Request, Result, StreamReader, record

Client = TypeVar("Client", bound="anthropic.Anthropic | anthropic.AsyncAnthropic")


def wrap(client: Client) -> Client:
    """Records the client's model calls, the tool calls that the model requests, and their results in the current run.

    It returns the same client. Calls outside of unloop.trace() are not recorded.
    """
    return record(client, _dialect)


def _dialect(path: str) -> Dialect | None:
    return Messages() if path.endswith("/messages") else None


class Messages:
    """Reads messages."""

    def request(self, body: Any) -> Request:
        messages = [m for m in items(get(body, "messages")) if get(m, "role") == "user"]
        results = [
            Result(text(get(block, "tool_use_id")), _content(get(block, "content")), get(block, "is_error") is True)
            for message in messages
            for block in items(get(message, "content"))
            if get(block, "type") == "tool_result"
        ]
        last = (items(get(body, "messages")) or [None])[-1]
        user_text = _content(get(last, "content")) if get(last, "role") == "user" else ""
        return Request(text(get(body, "model")), results, text(user_text))

    def answer(self, body: Any) -> Answer:
        content = items(get(body, "content"))
        usage_data = get(body, "usage")
        cached, written = get(usage_data, "cache_read_input_tokens"), get(usage_data, "cache_creation_input_tokens")
        prompt, answer = count(get(usage_data, "input_tokens"), cached, written), get(usage_data, "output_tokens")
        reasoning = get(usage_data, "output_tokens_details", "thinking_tokens")
        return Answer(
            model=text(get(body, "model")),
            tokens=count(prompt, answer),
            usage=usage(prompt, answer, cached, written, reasoning),
            text="".join(text(get(block, "text")) for block in content if get(block, "type") == "text"),
            calls=[
                Call(text(get(block, "id")), text(get(block, "name")), get(block, "input"))
                for block in content
                if get(block, "type") == "tool_use"
            ],
        )

    def stream_reader(self) -> StreamReader:
        return MessageStream()


class MessageStream:
    """Assembles the events of a streamed message."""

    def __init__(self) -> None:
        self.model = ""
        self.usage: dict[str, Any] = {}
        self.blocks: dict[int, dict[str, Any]] = {}
        self.pieces: dict[int, list[str]] = {}

    def add(self, piece: Any) -> None:
        kind = get(piece, "type")
        if kind == "message_start":
            self.model = text(get(piece, "message", "model"))
            self.count(get(piece, "message", "usage"))
        elif kind == "message_delta":
            self.count(get(piece, "usage"))
        elif kind == "content_block_start":
            block = get(piece, "content_block")
            self.blocks[get(piece, "index") or 0] = {k: get(block, k) for k in ("type", "id", "name", "input", "text")}
        elif kind == "content_block_delta":
            delta = get(piece, "delta")
            part = text(get(delta, "partial_json")) or text(get(delta, "text"))
            self.pieces.setdefault(get(piece, "index") or 0, []).append(part)

    def count(self, usage: Any) -> None:
        """Stores the counts of an event. They are cumulative, so the last ones replace earlier ones."""
        for name in (
            "input_tokens",
            "cache_read_input_tokens",
            "cache_creation_input_tokens",
            "output_tokens",
            "output_tokens_details",
        ):
            if get(usage, name) is not None:
                self.usage[name] = get(usage, name)

    def answer(self) -> Answer:
        for index, block in self.blocks.items():
            delta_text = "".join(self.pieces.get(index, []))
            if block["type"] == "tool_use":
                block["input"] = delta_text or block["input"]
            else:
                block["text"] = text(block["text"]) + delta_text
        return Messages().answer({"model": self.model, "usage": self.usage, "content": list(self.blocks.values())})


def _content(content: Any) -> Any:
    """Returns content as a str if all of its parts are text, else unchanged."""
    parts = items(content)
    texts = [get(part, "text") for part in parts]
    return "".join(texts) if parts and all(isinstance(t, str) for t in texts) else content
