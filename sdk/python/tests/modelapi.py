"""A server on this machine that answers as the APIs of OpenAI, Anthropic and Gemini do, from a script."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Call(NamedTuple):
    """The model asks for a tool."""

    tool: str
    args: dict[str, Any]


class Say(NamedTuple):
    """The model answers."""

    text: str


class Calls(NamedTuple):
    """The model asks for several tools at once."""

    calls: list[Call]


class Fail(NamedTuple):
    """The API refuses."""

    status: int


class Hold(NamedTuple):
    """The API streams a word again and again until the client goes, and then sets the event."""

    gone: threading.Event


class Tokens(NamedTuple):
    """What each answer is said to have cost."""

    prompt: int
    answer: int


HELD: dict[str, dict[str, Any]] = {
    "chat/completions": {"id": "c", "choices": [{"index": 0, "delta": {"content": "a"}}]},
    "responses": {"type": "response.created", "sequence_number": 0, "response": {"id": "r", "object": "response", "output": []}},
    "messages": {"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "content": []}},
    "enerateContent": {"candidates": [{"index": 0, "content": {"role": "model", "parts": [{"text": "a"}]}}]},
}
"""What a stream of each API repeats until its client goes."""

Turn = Call | Calls | Say | Fail | Hold
TOKENS = Tokens(100, 10)

RUNAWAY: list[Turn] = [*[Call("search", {"query": "loops"})] * 12, Say("I give up.")]
HONEST: list[Turn] = [*[Call("search", {"query": q}) for q in ("harbour", "depth of it", "tides", "charts")], Say("7 m.")]


def search(query: str) -> str:
    """Looks something up. What is found depends on the question, but loops are not found.

    Args:
        query: the question
    """
    return "0 results" if query == "loops" else f"a page about {query} that says {sum(map(ord, query))}"


class ModelAPI:
    """Plays its turns, one a request, and keeps the requests."""

    def __init__(self, turns: list[Turn], tokens: Tokens) -> None:
        self.turns = iter(turns)
        self.tokens = tokens
        self.requests: list[dict[str, Any]] = []
        self.url = ""

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        self.requests.append(body)
        turn, number = next(self.turns), len(self.requests)
        if isinstance(turn, Fail):
            return turn.status, {"error": {"type": "overloaded_error", "message": "come again"}}
        if isinstance(turn, Hold):
            return 200, turn
        if "enerateContent" in path:
            return 200, _content(turn, "streamGenerateContent" in path, self.tokens)
        make = {"chat/completions": _chat, "responses": _response, "messages": _message}
        return 200, make[path.partition("/v1/")[2].partition("?")[0]](turn, number, body.get("stream") is True, self.tokens)


@contextlib.contextmanager
def serve(turns: list[Turn], tokens: Tokens = TOKENS) -> Iterator[ModelAPI]:
    api = ModelAPI(turns, tokens)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, said = api.answer(self.path, body)
            if isinstance(said, Hold):
                self.hold(said)
                return
            streamed = isinstance(said, list)
            data = "".join(said) if streamed else json.dumps(said)
            self.send_response(status)
            self.send_header("Content-Type", "text/event-stream" if streamed else "application/json")
            if status >= 400:
                self.send_header("Retry-After-Ms", "1")  # the test does not wait
            if not streamed:  # the end of a stream is not known at its beginning
                self.send_header("Content-Length", str(len(data.encode())))
            self.end_headers()
            with contextlib.suppress(ConnectionError):  # the client may have gone
                self.wfile.write(data.encode())

        def hold(self, turn: Hold) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            api = next(name for name in HELD if name in self.path)
            with contextlib.suppress(ConnectionError):
                while True:
                    self.wfile.write(_event(HELD[api]).encode())
                    time.sleep(0.01)
            turn.gone.set()

        def log_message(self, *args: Any) -> None: ...

    class Server(ThreadingHTTPServer):
        request_queue_size = 128  # many agents may connect at once

    server = Server(("127.0.0.1", 0), Handler)
    api.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _asked(turn: Call | Calls, number: int) -> list[tuple[str, Call]]:
    """The calls of a turn with their ids."""
    calls = turn.calls if isinstance(turn, Calls) else [turn]
    return [(f"call-{number}" + "abc"[:k], call) for k, call in enumerate(calls)]


def _chat(turn: Call | Calls | Say, number: int, streamed: bool, tokens: Tokens) -> Any:
    usage: dict[str, Any] = {"prompt_tokens": tokens.prompt, "completion_tokens": tokens.answer, "total_tokens": sum(tokens)}
    usage["completion_tokens_details"] = {"reasoning_tokens": 4}
    head: dict[str, Any] = {"id": f"chat-{number}", "created": 1, "model": "coder-2-0801"}
    if isinstance(turn, Say):
        message: dict[str, Any] = {"role": "assistant", "content": turn.text}
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}, *({"content": letter} for letter in turn.text)]
    else:
        message, deltas = {"role": "assistant", "content": None, "tool_calls": []}, []
        for k, (id, asked) in enumerate(_asked(turn, number)):
            args = json.dumps(asked.args)
            call: dict[str, Any] = {"id": id, "type": "function", "function": {"name": asked.tool, "arguments": args}}
            message["tool_calls"].append(call)
            first: dict[str, Any] = {**call, "index": k, "function": {"name": asked.tool, "arguments": ""}}
            parts: list[dict[str, Any]] = [{"index": k, "function": {"arguments": letter}} for letter in args]
            deltas += [{"role": "assistant", "content": None, "tool_calls": [part]} for part in [first, *parts]]
    reason = "stop" if isinstance(turn, Say) else "tool_calls"
    if not streamed:
        choice = {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
        return {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
    chunks: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": d, "finish_reason": None}]} for d in deltas]
    chunks += [{"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}, {"choices": [], "usage": usage}]
    told = [json.dumps({**head, "object": "chat.completion.chunk", **chunk}) for chunk in chunks]
    return [f"data: {line}\n\n" for line in [*told, "[DONE]"]]


def _response(turn: Call | Calls | Say, number: int, streamed: bool, tokens: Tokens) -> Any:
    if isinstance(turn, Say):
        content = [{"type": "output_text", "text": turn.text, "annotations": []}]
        items: list[dict[str, Any]] = [{"type": "message", "role": "assistant", "status": "completed", "content": content}]
    else:
        items = [
            {"type": "function_call", "call_id": id, "name": c.tool, "arguments": json.dumps(c.args), "status": "completed"}
            for id, c in _asked(turn, number)
        ]
    items = [{"id": f"item-{number}" + "abc"[:k], **item} for k, item in enumerate(items)]
    body: dict[str, Any] = {
        "id": f"resp-{number}",
        "object": "response",
        "created_at": 1,
        "model": "coder-2-0801",
        "status": "completed",
        "output": items,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": tokens.prompt,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": tokens.answer,
            "output_tokens_details": {"reasoning_tokens": 4},
            "total_tokens": sum(tokens),
        },
    }
    if not streamed:
        return body
    begun: dict[str, Any] = {**body, "status": "in_progress", "output": [], "usage": None}
    events: list[dict[str, Any]] = [{"type": "response.created", "response": begun}]
    for k, item in enumerate(items):
        events.append({"type": "response.output_item.added", "output_index": k, "item": {**item, "content": []}})
        place = {"item_id": item["id"], "output_index": k, "content_index": 0}
        for part in item.get("content", []):
            events.append({"type": "response.content_part.added", **place, "part": {**part, "text": ""}})
            deltas = [part["text"][at : at + 8] for at in range(0, len(part["text"]), 8)]
            events += [{"type": "response.output_text.delta", **place, "delta": d, "logprobs": []} for d in deltas]
        events.append({"type": "response.output_item.done", "output_index": k, "item": item})
    events.append({"type": "response.completed", "response": body})
    return [_event({**event, "sequence_number": k}) for k, event in enumerate(events)]


def _message(turn: Call | Calls | Say, number: int, streamed: bool, tokens: Tokens) -> Any:
    blocks: list[tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]]]] = []
    if isinstance(turn, Say):
        empty: dict[str, Any] = {"type": "text", "text": ""}
        blocks.append(({**empty, "text": turn.text}, empty, [{"type": "text_delta", "text": letter} for letter in turn.text]))
    else:
        for id, asked in _asked(turn, number):
            empty = {"type": "tool_use", "id": id, "name": asked.tool, "input": {}}
            deltas = [{"type": "input_json_delta", "partial_json": letter} for letter in json.dumps(asked.args)]
            blocks.append(({**empty, "input": asked.args}, empty, deltas))
    reason = "end_turn" if isinstance(turn, Say) else "tool_use"
    cached, written = tokens.prompt // 2, tokens.prompt // 10
    begun_usage = {"cache_read_input_tokens": cached, "cache_creation_input_tokens": written, "output_tokens": 1}
    begun_usage["input_tokens"] = tokens.prompt - cached - written
    ended_usage = {"output_tokens": tokens.answer, "output_tokens_details": {"thinking_tokens": 4}}
    usage = {**begun_usage, **ended_usage}
    head: dict[str, Any] = {"id": f"msg-{number}", "type": "message", "role": "assistant", "model": "coder-2-0801"}
    if not streamed:
        return {
            **head,
            "content": [block for block, _, _ in blocks],
            "stop_reason": reason,
            "stop_sequence": None,
            "usage": usage,
        }
    begun: dict[str, Any] = {
        **head,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": begun_usage,
    }
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": begun},
    ]
    for k, (_, empty, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": k, "content_block": empty})
        events += [{"type": "content_block_delta", "index": k, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": k})
    delta = {"stop_reason": reason, "stop_sequence": None}
    events += [{"type": "message_delta", "delta": delta, "usage": ended_usage}, {"type": "message_stop"}]
    return [_event(event) for event in events]


def _content(turn: Call | Calls | Say, streamed: bool, tokens: Tokens) -> Any:
    if isinstance(turn, Say):
        letters = [turn.text[at : at + 8] for at in range(0, len(turn.text), 8)]
        parts: list[dict[str, Any]] = [{"text": text} for text in (letters if streamed else [turn.text])]
    else:
        parts = [{"functionCall": {"name": call.tool, "args": call.args}} for _, call in _asked(turn, 0)]
    usage = {"promptTokenCount": tokens.prompt, "candidatesTokenCount": tokens.answer - 4, "thoughtsTokenCount": 4}
    usage["totalTokenCount"] = sum(tokens)
    answers: list[dict[str, Any]] = [
        {"candidates": [{"index": 0, "content": {"role": "model", "parts": few}}], "modelVersion": "coder-2-0801"}
        for few in ([[part] for part in parts] if streamed else [parts])
    ]
    answers[-1]["candidates"][0]["finishReason"] = "STOP"
    answers[-1]["usageMetadata"] = usage
    return [f"data: {json.dumps(answer)}\n\n" for answer in answers] if streamed else answers[0]


def _event(event: dict[str, Any]) -> str:
    name = f"event: {event['type']}\n" if "type" in event else ""
    return f"{name}data: {json.dumps(event)}\n\n"
